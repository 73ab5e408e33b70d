"""A program, and the ways in which it can be rewritten without becoming another one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAMES = {
    "describe": "summarise_it",
    "values": "xs",
    "value": "x",
    "limit": "upperBound",
    "total": "acc",
    "found": "seen_1",
}
LITERALS = {
    "0": "7",
    "10": "123456789",
    "2": "35",
    '"big "': '""',
    '"none"': r'"a \"line\"\n"',
    "true": "false",
    "false": "true",
}


@dataclass(frozen=True)
class Program:
    """A program, and what it takes to rewrite it."""

    language: str
    code: str
    reformatted: str
    """The same tokens, laid out otherwise by hand."""
    line_comment: str = "//"
    block_comment: str = "/* {} */"
    """How a comment over several lines is written; ``""`` when the language has none that can stand on any line."""
    names: dict[str, str] = field(default_factory=lambda: NAMES)
    literals: dict[str, str] = field(default_factory=lambda: LITERALS)
    both: str = " && "
    either: str = " || "

    @property
    def renamed(self) -> str:
        return _swap(self.code, self.names)

    @property
    def with_other_literals(self) -> str:
        return _swap(self.code, self.literals)

    @property
    def commented(self) -> str:
        """A comment at the end of every line, and one or two on lines of their own between them."""
        lines = []
        for line in self.code.split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f"{line} {self.line_comment} if (a < 1) {{ return 'x'; }}", f"{indent}{self.line_comment} why"]
            if self.block_comment:
                lines.append(indent + self.block_comment.format("one line\n\nand another"))
        return "\n".join(lines)

    @property
    def with_another_comparison(self) -> str:
        return self.code.replace(" < ", " <= ", 1)

    @property
    def with_or_for_and(self) -> str:
        return self.code.replace(self.both, self.either, 1)


def _swap(code: str, words: dict[str, str]) -> str:
    """Put in the new words for the old ones, all at once."""
    pattern = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)({pattern})(?!\w)", lambda match: words[match[0]], code)
