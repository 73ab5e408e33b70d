"""Structure is blind to names, layout, comments and literal values, and to nothing else: in every language."""

from __future__ import annotations

import pytest

from evaluator_core import score
from evaluator_core.defined_names import defined_names
from evaluator_core.languages import LANGUAGES, Language, find_language
from evaluator_core.syntax import MAX_CODE, Syntax, read_syntax
from tests.programs import PROGRAMS
from tests.rewriting import Program

REWRITINGS = ("renamed", "reformatted", "commented", "with_other_literals")
BY_LANGUAGE = {program.language: program for program in PROGRAMS}

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.language)
every_rewriting = pytest.mark.parametrize("rewriting", REWRITINGS)


def language_of(name: str) -> Language:
    language = find_language(name)
    assert language is not None
    return language


def syntax_of(code: str, language: str) -> Syntax:
    syntax = read_syntax(code, language_of(language))
    assert syntax is not None
    return syntax


def fenced(code: str, tag: str) -> str:
    return f"Here it is:\n\n```{tag}\n{code}\n```\n\nIt adds up what is below the limit."


def structure(first: str, second: str, language: str) -> float:
    """The structural similarity of two codes, through the front door."""
    matrix = score([fenced(first, language), fenced(second, language)], language=language).ast
    assert matrix is not None
    return float(matrix[0, 1])


def test_there_is_a_program_for_every_language() -> None:
    assert sorted(BY_LANGUAGE) == sorted(language.name for language in LANGUAGES)


@every_program
def test_the_program_parses_and_defines_something(program: Program) -> None:
    syntax = syntax_of(program.code, program.language)
    assert syntax.parses
    assert not syntax.is_empty
    assert syntax.defines or program.language == "sql"


@every_program
def test_what_it_defines_is_known_by_name(program: Program) -> None:
    names = defined_names(program.code, language_of(program.language), inner=True)
    assert "describe" in map(str.lower, names) or program.language == "sql"


@every_rewriting
@every_program
def test_a_rewriting_has_the_same_structure(program: Program, rewriting: str) -> None:
    rewritten: str = getattr(program, rewriting)
    assert rewritten != program.code
    syntax = syntax_of(rewritten, program.language)
    assert syntax.parses
    assert syntax.kinds == syntax_of(program.code, program.language).kinds
    assert structure(program.code, rewritten, program.language) == 1.0


@every_program
def test_all_rewritings_at_once_are_the_same_program_to_score(program: Program) -> None:
    replies = [fenced(getattr(program, rewriting), program.language) for rewriting in REWRITINGS]
    result = score(replies, language=program.language)
    assert result.ast is not None
    assert (result.ast == 1.0).all()
    assert all(sample.parses for sample in result.samples)
    assert result.text.min() < 1.0


@pytest.mark.parametrize("change", ["with_another_comparison", "with_or_for_and"])
@every_program
def test_another_operator_is_another_structure(program: Program, change: str) -> None:
    changed: str = getattr(program, change)
    assert changed != program.code
    assert syntax_of(changed, program.language).parses
    assert 0.0 < structure(program.code, changed, program.language) < 1.0


@every_program
def test_half_a_program_is_further_away_than_another_operator(program: Program) -> None:
    lines = program.code.rstrip().split("\n")
    half = "\n".join(lines[: len(lines) // 2])
    assert structure(program.code, half, program.language) < structure(
        program.code, program.with_another_comparison, program.language
    )


SUM_BY_LOOP = """\
def total(values):
    result = 0
    for value in values:
        result += value
    return result
"""
SUM_BY_RECURSION = """\
def total(values):
    if not values:
        return 0
    return values[0] + total(values[1:])
"""


def test_a_docstring_leaves_no_trace() -> None:
    documented = SUM_BY_LOOP.replace("    result = 0", '    """Add up.\n\n    >>> total([1])\n    1\n    """\n    result = 0')
    with_all = '"""What this module does."""\n\n' + documented
    assert syntax_of(documented, "python").kinds == syntax_of(SUM_BY_LOOP, "python").kinds
    assert syntax_of(with_all, "python").kinds == syntax_of(SUM_BY_LOOP, "python").kinds
    assert structure(with_all, SUM_BY_LOOP, "python") == 1.0


def test_a_docstring_of_a_class_leaves_no_trace() -> None:
    assert structure('class Box:\n    "A box."\n\n    size = 1\n', "class Box:\n    size = 1\n", "python") == 1.0


def test_a_string_that_is_used_is_not_a_docstring() -> None:
    assert structure('def f():\n    return "text"\n', "def f():\n    return\n", "python") < 1.0


def test_recursion_is_not_a_loop() -> None:
    renamed = SUM_BY_LOOP.replace("value", "x")
    assert structure(SUM_BY_LOOP, SUM_BY_RECURSION, "python") < 0.9
    assert structure(SUM_BY_LOOP, SUM_BY_RECURSION, "python") < structure(SUM_BY_LOOP, renamed, "python")


def test_a_return_inside_the_loop_differs_from_one_after_it() -> None:
    assert structure(SUM_BY_LOOP, SUM_BY_LOOP.replace("    return", "        return"), "python") < 1.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + b", "a - b"),
        ("a + b", "a * b"),
        ("a // b", "a / b"),
        ("a == b", "a != b"),
        ("a in b", "a not in b"),
        ("a is b", "a is not b"),
        ("not a", "a"),
        ("-a", "~a"),
        ("1", '"1"'),
        ("1", "1.0"),
        ("1", "None"),
        ("True", "None"),
        ('"a"', 'f"{a}"'),
        ("f(*a)", "f(**a)"),
    ],
)
def test_another_operator_or_kind_of_literal_differs_in_python(old: str, new: str) -> None:
    template = "def f(a, b):\n    x = {}\n    return x\n"
    assert structure(template.format(old), template.format(new), "python") < 1.0


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("python", "x = (a + b)", "x = a + b"),
        ("python", "def f():\n    return (a, b)", "def f():\n    return a, b"),
        ("python", "for (a, b) in c:\n    f(a)", "for a, b in c:\n    f(a)"),
        ("python", "from a import (b, c)", "from a import b, c"),
        ("javascript", "const f = (a) => a + 1;", "const f = a => a + 1;"),
        ("rust", "fn f() { if (a) { b() } }", "fn f() { if a { b() } }"),
        ("go", "func f() { if (a) { b() } }", "func f() { if a { b() } }"),
        ("c", "int f() { return (a); }", "int f() { return a; }"),
        ("swift", "if (a < b) { c() }", "if a < b { c() }"),
        ("ruby", "if (a < b)\n  c\nend", "if a < b\n  c\nend"),
        ("sql", "SELECT a FROM b WHERE (c = 1)", "SELECT a FROM b WHERE c = 1"),
        ("php", "<?php\n$a = ($b);\n?>\n", "$a = $b;"),
    ],
)
def test_brackets_that_change_nothing_leave_no_trace(language: str, first: str, second: str) -> None:
    assert syntax_of(first, language).kinds == syntax_of(second, language).kinds


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("python", 'x = f"a{b}c"', 'x = f"{b}"'),
        ("python", 'x = f"{{a}} {b}"', 'x = f"a {b}"'),
        ("javascript", "x = `a${b}\\n`", "x = `${b}`"),
        ("csharp", 'class A { string x = $"a{b}c"; }', 'class A { string x = $"{b}"; }'),
        ("php", '$x = "a{$b}c";', '$x = "{$b}";'),
        ("kotlin", 'val x = "a${b}c"', 'val x = "${b}"'),
        ("swift", 'let x = "a\\(b)c"', 'let x = "\\(b)"'),
        ("scala", 'val x = s"a${b}c"', 'val x = s"${b}"'),
        ("ruby", 'x = "a#{b}c"', 'x = "#{b}"'),
        ("bash", 'x="a$b c"', 'x="$b"'),
        ("c", "char x = 'a';", "char x = '\\n';"),
        ("rust", 'fn f() { println!("a {}", b); }', 'fn f() { println!("", b); }'),
    ],
)
def test_the_text_around_an_inserted_value_is_not_looked_at(language: str, first: str, second: str) -> None:
    assert syntax_of(first, language).kinds == syntax_of(second, language).kinds


@pytest.mark.parametrize("code", ["", "\n \n", "# only a comment", '"""Only a docstring."""'])
def test_nothing_but_comments_is_empty(code: str) -> None:
    assert syntax_of(code, "python").is_empty


def test_broken_code_still_has_a_structure() -> None:
    broken = SUM_BY_LOOP + "    return ("
    assert not syntax_of(broken, "python").parses
    assert 0.7 < structure(SUM_BY_LOOP, broken, "python") < 1.0


def test_a_code_over_the_limit_is_not_parsed() -> None:
    assert read_syntax("x" * MAX_CODE, language_of("python")) is not None
    assert read_syntax("x" * (MAX_CODE + 1), language_of("python")) is None


@pytest.mark.timeout(30)
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_deep_nesting_is_read_in_time_that_does_not_grow_with_its_square(language: Language) -> None:
    syntax = read_syntax("(" * 40_000 + "1" + ")" * 40_000, language)
    assert syntax is not None
