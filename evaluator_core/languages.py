"""The one list of programming languages: how each is named, fenced, saved and parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from tree_sitter import Language as Grammar

from evaluator_core.errors import InvalidInput

AUTO = "auto"
"""The name that asks for the language to be told from the answers."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language that has a grammar, so that its programs can be compared by structure."""

    name: str
    """The name used in settings, files and the API."""
    label: str
    """The name as people write it."""
    extension: str
    """File ending for source files, with its dot."""
    aliases: tuple[str, ...]
    """Other names, as they stand behind the opening of a Markdown fence."""
    module: str
    """The package that carries the grammar."""
    function: str = "language"
    """The function of that package which returns the grammar."""
    opening: str = ""
    """Text without which the grammar sees no program at all; put before codes that lack it."""
    docstrings: bool = False
    """Whether a statement that is only a string is documentation."""
    marks: str = r"(?!)"
    """A pattern that is common here and rare elsewhere, to tell apart languages whose grammars fit a code equally well."""
    operators: tuple[str, ...] = ()
    """Tokens that are operators in this language and mere punctuation in others."""


LANGUAGES: tuple[Language, ...] = (
    Language(
        "python", "Python", ".py", ("py", "python3", "py3"), "tree_sitter_python", docstrings=True, operators=(":",),
        marks=r"^\s*(def \w+\(.*:\s*$|elif |import \w+$|from \w+ import)|\bself\b|__\w+__",
    ),
    Language(
        "javascript", "JavaScript", ".js", ("js", "jsx", "node", "mjs"), "tree_sitter_javascript",
        marks=r"===|\b(const|let) \w+ =|=> |console\.|\bfunction \w+\([^$:]*\) *\{$",
    ),
    Language(
        "typescript", "TypeScript", ".ts", ("ts",), "tree_sitter_typescript", "language_typescript",
        marks=r": (number|string|boolean|any|void)\b",
    ),
    Language("go", "Go", ".go", ("golang",), "tree_sitter_go", marks=r":=|^func |^package "),
    Language("rust", "Rust", ".rs", ("rs",), "tree_sitter_rust", marks=r"\bfn \w+|let mut |\bimpl\b|-> "),
    Language(
        "java", "Java", ".java", (), "tree_sitter_java",
        marks=r"System\.out|\bString\b|import java|\bboolean\b|\bInteger\b|\.length\(\)|\.size\(\)",
    ),
    Language(
        "c", "C", ".c", ("h",), "tree_sitter_c",
        marks=r"#include <\w+\.h>|\bprintf\(|\bmalloc\(|\bchar ?\*|\bNULL\b",
    ),
    Language(
        "cpp", "C++", ".cpp", ("c++", "cc", "cxx", "hpp"), "tree_sitter_cpp",
        marks=r"std::|#include <\w+>$|\bvector<|\bauto\b|\bcout\b|\bstring&|using namespace",
    ),
    Language(
        "csharp", "C#", ".cs", ("c#", "cs", "c-sharp"), "tree_sitter_c_sharp",
        marks=r"\bstring\b|using System|Console\.|\bforeach\b|\.Length\b|\.Count\b|\bbool\b|[a-z]\w*\.[A-Z]\w+\(",
    ),
    Language(
        "php", "PHP", ".php", (), "tree_sitter_php", "language_php", opening="<?php\n", operators=(".",),
        marks=r"\$\w+|<\?php|->\w+|\becho\b",
    ),
    Language("kotlin", "Kotlin", ".kt", ("kt", "kts"), "tree_sitter_kotlin", marks=r"\bfun \w+|\bval \w+|println\("),
    Language("swift", "Swift", ".swift", (), "tree_sitter_swift", marks=r"\bfunc \w+\(.*\) ->|\bguard\b|\b(let|var) \w+"),
    Language("scala", "Scala", ".scala", (), "tree_sitter_scala", marks=r"\bdef \w+.*=|\bobject \w+|\bcase class \w"),
    Language("ruby", "Ruby", ".rb", ("rb",), "tree_sitter_ruby", marks=r"^\s*end$|\bputs\b|\.each\b|\bdo \|"),
    Language(
        "sql", "SQL", ".sql", ("mysql", "postgresql", "postgres", "sqlite", "plsql"), "tree_sitter_sql",
        marks=r"(?i)\b(select|insert into|create table|update \w+ set)\b",
    ),
    Language(
        "bash", "Bash", ".sh", ("sh", "shell", "zsh"), "tree_sitter_bash",
        marks=r"^#!|\bfi$|\bdone$|\$\{?\w+|\becho ",
    ),
)  # fmt: skip

WITHOUT_GRAMMAR = frozenset(
    "ada clojure cobol crystal dart delphi elixir elm erlang fortran fsharp gleam groovy haskell haxe julia lisp lua matlab nim"
    " objectivec objective-c ocaml octave odin pascal perl prolog purescript r racket raku scheme solidity tcl v vb vbnet vhdl"
    " verilog zig".split()
)
"""Languages that fences name and that have no grammar here: their programs are not to be read by another one's."""

_BY_NAME = {alias: language for language in LANGUAGES for alias in (language.name, *language.aliases)}


def find_language(name: str) -> Language | None:
    """The language with this name or alias, in any case; ``None`` when it has no grammar here."""
    return _BY_NAME.get(name.strip().lower())


def canonical_name(name: str) -> str:
    """The name under which a language is stored: ``"JS"`` → ``"javascript"``, ``"Dart"`` → ``"dart"``."""
    cleaned = name.strip().lower() if isinstance(name, str) else ""
    if not cleaned or len(cleaned) > 40 or not cleaned.isprintable():
        raise InvalidInput(
            f"language: {str(name)[:60]!r} is not a language name; give one of {AUTO}, "
            + ", ".join(language.name for language in LANGUAGES)
            + ", or another name to compare by text alone"
        )
    language = find_language(cleaned)
    return language.name if language else cleaned


@cache
def grammar(language: Language) -> Grammar:
    """The tree-sitter grammar of a language, loaded once."""
    pointer = cast(Callable[[], object], getattr(import_module(language.module), language.function))
    return Grammar(pointer())
