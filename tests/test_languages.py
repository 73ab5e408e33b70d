"""Which language the replies are read as, and what happens when it has no grammar."""

from __future__ import annotations

import pytest

from evaluator_core import Weights, score
from evaluator_core.languages import WITHOUT_GRAMMAR, find_language
from tests.programs import PROGRAMS
from tests.rewriting import Program


def fenced(code: str, tag: str) -> str:
    return f"Here it is:\n\n```{tag}\n{code}\n```\n"


def test_auto_takes_the_language_that_most_fences_name() -> None:
    replies = [fenced("x = 1", "py"), fenced("let x = 1;", "js"), fenced("const y = 2;", "javascript")]
    assert score(replies, language="auto").language == "javascript"


def test_auto_does_not_read_a_fenced_language_by_another_ones_grammar() -> None:
    code = "int add(int a, int b) {\n  return a + b;\n}"
    result = score([fenced(code, "dart"), fenced(code, "Dart")], language="auto")
    assert (result.language, result.ast) == ("dart", None)
    assert any("text alone" in note for note in result.notes)
    assert score([fenced(code, "code")] * 2, language="auto").ast is not None, "not every tag is a language"


def test_auto_is_not_misled_by_one_answer_that_was_cut_off() -> None:
    whole = "function add($a, $b) {\n    $sum = $a + $b;\n    return $sum;\n}"
    cut = "function add($a, $b) {\n    foreach ([$a, $b] as $x) {\n        $sum .= $x . '"
    assert score([*[whole] * 4, cut], language="auto").language == "php"


def test_no_language_has_a_grammar_and_none() -> None:
    assert [name for name in WITHOUT_GRAMMAR if find_language(name)] == []


def test_auto_does_not_count_a_shell_command_beside_the_program() -> None:
    install = "```bash\npip install numpy scipy pandas matplotlib seaborn scikit-learn\n```\n"
    assert score([install + fenced("x = 1", "python")] * 2, language="auto").language == "python"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.language)
def test_auto_tells_the_language_by_the_grammars_when_there_are_no_fences(program: Program) -> None:
    result = score([program.code, program.renamed], language="auto")
    assert result.language == program.language
    assert result.ast is not None


@pytest.mark.parametrize("name", ["dart", "lua", "Fortran"])
def test_a_language_without_a_grammar_is_compared_by_text_alone(name: str) -> None:
    result = score([fenced("local x = 1", name), fenced("local y = 1", name), fenced("local x = 1", name)], language=name)
    assert result.language == name.lower()
    assert result.ast is None
    assert result.weights == Weights(structure=0.0, text=1.0)
    assert (result.hybrid == result.text).all()
    assert 0 < result.text[0, 1] < result.text[0, 2] == 1.0
    assert [pair.ast_similarity for pair in result.pairs()] == [None, None, None]
    assert any("no grammar" in note and name.lower() in note and "text alone" in note for note in result.notes)


def test_an_alias_names_the_same_language() -> None:
    assert score(["let x = 1;", "let y = 1;"], language="JS").language == "javascript"


def test_auto_without_any_code_compares_nothing() -> None:
    result = score(["I am sorry, I cannot do that.", ""], language="auto")
    assert result.ast is None
    assert result.hybrid[0, 1] == 0.0
