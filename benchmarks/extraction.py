"""How often the extracted code parses, on real replies of chat models, beside the plain rule of the longest fence."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Callable

from benchmarks.real_outputs import read_lines
from evaluator_core.extract import extract_code
from evaluator_core.languages import Language, find_language
from evaluator_core.syntax import parses

_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)

Reply = tuple[str, str]
"""A prompt and the reply to it."""
Rule = Callable[[str, str, Language], str]
"""Prompt, reply and language → the code in the reply."""


def main() -> None:
    records = read_lines("chat_replies.jsonl.gz")
    print("Extraction, on real replies of chat models; shares are of the codes found")
    if records is None:
        print("../shared/data is missing: there is nothing to measure")
        return
    replies: dict[str, list[Reply]] = defaultdict(list)
    for record in records:
        replies[record["language"]] += [(record["prompt"], output) for output in record["outputs"]]
    print(f"\n{'language':<12}{'rule':<15}{'replies':>8}{'no code':>9}{'grammar':>10}{'ast.parse':>11}")
    for name, given in replies.items():
        language = find_language(name)
        if language is None:
            print(f"{name:<12}there is no grammar for it")
            continue
        _print_rule(language, "extract_code", given, extracted)
        _print_rule(language, "longest fence", given, longest_fence)


def extracted(prompt: str, reply: str, language: Language) -> str:
    """This project's rule."""
    return extract_code(reply, language.name, prompt=prompt).code


def longest_fence(prompt: str, reply: str, language: Language) -> str:
    """The plain rule: the longest fenced block, or the whole reply where there is none."""
    return max(_FENCED.findall(reply), key=len, default=reply)


def _print_rule(language: Language, name: str, replies: list[Reply], rule: Rule) -> None:
    codes = [code for prompt, text in replies if (code := rule(prompt, text, language)).strip()]
    by_grammar = sum(parses(code, language) for code in codes) / len(codes)
    by_ast = f"{sum(map(_is_python, codes)) / len(codes):>11.1%}" if language.name == "python" else f"{'–':>11}"
    print(f"{language.name:<12}{name:<15}{len(replies):>8}{len(replies) - len(codes):>9}{by_grammar:>10.1%}{by_ast}")


def _is_python(code: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the models' strings
        try:
            ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
