"""Code → the sequence of its syntax node kinds, for every language that has a grammar.

The sequence is a string with one character per node, in pre-order: named nodes and operators. Names, literal values,
comments, docstrings, brackets and layout leave no trace in it. A block leaves a second character where it ends, so
that a statement inside a loop differs from the same statement after it.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import NamedTuple

from tree_sitter import Node, Parser, Tree

from evaluator_core.languages import LANGUAGES, Language, grammar

MAX_CODE = 100_000
"""Characters above which a code is not parsed: recovery from errors can take time that grows with their square."""

_GUESS_CODES, _GUESS_CHARACTERS = 20, 10_000  # more would cost time and tell nothing new
_ERROR_ID = 0xFFFF
_local = threading.local()
_ERROR = "\uffff"
_BLOCK_END = "\ufffe"

# Tokens that change what a program does and that no named node stands for.
_OPERATOR = re.compile(
    r"[-+*/%<>=!&|^~?@.:]+|and|or|not|in|is|not in|is not|!in|!is|instanceof|typeof|as[?!]?|xor|void|delete"
    r"|async|await|break|continue|until|from"
)
_PUNCTUATION = frozenset({".", ":", "::", "..."})

# Nodes that say nothing beyond layout, or that hold the characters of a literal.
_TRANSPARENT = frozenset(
    """parenthesized_expression parenthesized_statements parenthesized_pattern empty_statement php_tag php_end_tag
    string_content string_start string_end string_fragment multiline_string_fragment escape_sequence
    interpreted_string_literal_content raw_string_literal_content raw_string_content raw_string_delimiter
    raw_string_start raw_string_end character character_literal_content string_literal_content string_literal_encoding
    heredoc_start heredoc_end heredoc_beginning heredoc_content nowdoc_string line_str_text
    multi_line_str_text escape_interpolation raw_str_part raw_str_end_part raw_str_continuing_indicator str_escaped_char
    regex_pattern jsx_text""".split()
)
_IGNORED = re.compile(r"comment|^(marginalia|line_continuation|shebang|hash_bang_line|text_interpolation)$")
# Two spellings of one kind: both values of a boolean, both ways to quote or to indent.
_SAME = {
    "false": "true",
    "keyword_false": "keyword_true",
    "encapsed_string": "string",
    "multiline_string_literal": "string_literal",
    "multi_line_string_literal": "line_string_literal",
    "raw_string": "string",
    "indented_block": "block",
    "expression_list": "tuple",
    "pattern_list": "tuple_pattern",
}
# Brackets that one may write or leave out around a single child of this kind; "" for any.
_OPTIONAL_BRACKETS = {"formal_parameters": "identifier", "indented_block": "block", "tuple_expression": ""}
_BLOCK = re.compile(r"(^|_)(block|body|compound_statement|body_statement|statements|do_group|then|else)$")
_SPELLED = frozenset({"operator_identifier", "test_operator", "custom_operator"})
DEFINITION = re.compile(
    r"^(method|class|module|singleton_method|arrow_function|function_expression|create_.*)$"
    r"|(function|method|class|struct|interface|trait|impl|object|protocol|enum|constructor|record)"
    r"_(definition|declaration|item|statement|specifier)$"
)


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a grammar sees in one code."""

    kinds: str
    """One character per syntax node, in pre-order."""
    parses: bool
    """Whether the whole code fits the grammar."""
    defines: bool
    """Whether it defines a function, a class or the like."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but comments, docstrings and blanks: no node below the root."""
        return self.parses and len(self.kinds) <= 1


def read_syntax(code: str, language: Language) -> Syntax | None:
    """The syntax of a code, whole or broken; ``None`` for one longer than ``MAX_CODE``."""
    if len(code) > MAX_CODE:
        return None
    tree = parse_tree(code, language)
    alphabet = _alphabet(language)
    sequence = _walk(tree, alphabet)
    defines = not alphabet.definitions.isdisjoint(sequence[1:])  # the root of a Python program is a "module"
    return Syntax("".join(sequence), not tree.root_node.has_error, defines)


def parses(code: str, language: Language) -> bool:
    """Whether the whole code fits the grammar, for codes up to ``MAX_CODE``."""
    return len(code) <= MAX_CODE and not parse_tree(code, language).root_node.has_error


def _walk(tree: Tree, alphabet: _Alphabet) -> list[str]:
    """The sequence of a tree. A loop over a cursor: depth costs no stack."""
    sequence: list[str] = []
    block_ends: list[str] = []
    kinds, special = alphabet.kinds, alphabet.special
    cursor = tree.walk()
    goto_first_child, goto_next_sibling = cursor.goto_first_child, cursor.goto_next_sibling
    while True:
        node: Node = cursor.node  # type: ignore[assignment]  # a cursor is always at a node
        number = node.kind_id
        character, block_end = kinds[number]
        if number in special:
            character = special[number](node, character)
        if character:
            sequence.append(character)
        if character is not None and goto_first_child():
            block_ends.append(block_end if character else "")
            continue
        while not goto_next_sibling():
            if not cursor.goto_parent():
                return sequence
            if end := block_ends.pop():
                sequence.append(end)


def error_share(code: str, language: Language) -> float:
    """The share of a code's bytes that do not fit the grammar, in [0, 1]; a missing token counts as one byte."""
    tree = parse_tree(code, language)
    if not tree.root_node.has_error:
        return 0.0
    lost, waiting = 0, [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            lost += max(1, node.end_byte - node.start_byte)
        elif node.has_error:
            waiting.extend(node.children)
    return min(1.0, lost / max(1, tree.root_node.end_byte))


def guess_language(codes: list[str]) -> Language | None:
    """The language whose grammar fits these codes with the fewest errors; ``None`` when there is no code to tell by.

    Shares of errors that differ by less than a tenth say little, as many small programs fit several grammars; what
    is typical of a language then decides. The median counts: one answer that was cut off must not turn the scale.
    """
    given = [code[:_GUESS_CHARACTERS] for code in codes if code.strip()][:_GUESS_CODES]
    if not given:
        return None

    def unfitness(language: Language) -> tuple[float, int, float]:
        errors = [error_share(code, language) for code in given]
        typical = sum(bool(re.search(language.marks, code, re.MULTILINE)) for code in given)
        return round(median(errors), 1), -typical, sum(errors)

    return min(LANGUAGES, key=unfitness)


class _Alphabet(NamedTuple):
    """How the node kinds of one grammar are written."""

    kinds: dict[int, tuple[str | None, str]]
    """For each kind's number, its character and the one that ends it, each ``""`` for none."""
    special: dict[int, Callable[[Node, str | None], str | None]]
    """Kinds at which the node itself must be looked at: its character then, ``None`` to pass over all of it."""
    definitions: frozenset[str]
    """The characters of functions, classes and the like."""


@cache
def _alphabet(language: Language) -> _Alphabet:
    rules = grammar(language)
    kinds: dict[int, tuple[str | None, str]] = {_ERROR_ID: (_ERROR, "")}
    special: dict[int, Callable[[Node, str | None], str | None]] = {}
    definitions = set()
    characters: dict[tuple[bool, str], str] = {}
    for number in range(rules.node_kind_count):
        name = rules.node_kind_for_id(number) or ""
        named = rules.node_kind_is_named(number)
        # One kind can have several numbers, and two kinds can mean the same.
        character = characters.setdefault((named, _SAME.get(name, name)), chr(number + 1))
        if not named:
            is_operator = name in language.operators or (_OPERATOR.fullmatch(name) and name not in _PUNCTUATION)
            kinds[number] = (character if is_operator else "", "")
            continue
        kinds[number] = ("" if name in _TRANSPARENT else character, _BLOCK_END if _BLOCK.search(name) else "")
        if _IGNORED.search(name):
            special[number] = _pass_over
        elif name in _SPELLED:
            special[number] = _spelling
        elif name in _OPTIONAL_BRACKETS:
            special[number] = _unless_optional
        elif language.docstrings and name == "expression_statement":
            special[number] = _unless_docstring
        if DEFINITION.search(name):
            definitions.add(character)
    return _Alphabet(kinds, special, frozenset(definitions))


def parse_tree(code: str, language: Language) -> Tree:
    """The syntax tree of a code, whole or broken."""
    if language.opening and "<?" not in code:
        code = language.opening + code
    # Lone surrogates have no UTF-8 form: they become "?", and the parser sees an error there.
    return _parser(language).parse(code.encode("utf-8", "replace"))


def _parser(language: Language) -> Parser:
    """This thread's parser for a language: a parser must not be used by two threads at once."""
    parsers: dict[str, Parser] | None = getattr(_local, "parsers", None)
    if parsers is None:
        parsers = _local.parsers = {}
    if language.name not in parsers:
        parsers[language.name] = Parser(grammar(language))
    return parsers[language.name]


def _pass_over(node: Node, character: str | None) -> None:
    return None


def _unless_optional(brackets: Node, character: str | None) -> str | None:
    children = brackets.named_children
    is_optional = len(children) == 1 and _OPTIONAL_BRACKETS[brackets.type] in ("", children[0].type)
    return "" if is_optional else character


def _unless_docstring(statement: Node, character: str | None) -> str | None:
    children = statement.named_children
    return None if len(children) == 1 and children[0].type in ("string", "concatenated_string") else character


def _spelling(operator: Node, character: str | None) -> str:
    """A character for an operator whose grammar has one kind for all of them, above every kind's own character."""
    return chr(0x20000 + zlib.crc32(operator.text or b"") % 0xE0000)
