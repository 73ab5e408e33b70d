"""Keys: carried without being shown, and taken out of any text that might repeat one."""

from __future__ import annotations

import re

_HIDDEN = "[key]"
# A key as endpoints quote it back, whole or half hidden: sk-proj-abc…, sk-ab****yz, abcd********wxyz.
_QUOTED_KEY = re.compile(r"\b(?:sk|pk|rk|gsk|xai|or)-[\w*.…-]{6,}|(?<![\w-])[\w-]*+\*{3,}[\w-]*")


class Secret:
    """A key that no repr, log or file shows; ``reveal`` is for the request that needs it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Keep the value; surrounding blanks, as a copied key often has, are not part of it."""
        self._value = value.strip()

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    @property
    def fits_a_header(self) -> bool:
        """Whether a request can carry it; an error about one that does not would quote it."""
        return self._value.isascii() and self._value.isprintable() and " " not in self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not to be stored")


def redact(text: str, key: Secret | None = None) -> str:
    """The text without the key, and without anything that looks like a part of one."""
    if key:
        value = key.reveal()
        text = text.replace(value, _HIDDEN)
        if len(value) >= 12:
            text = text.replace(value[:8], _HIDDEN).replace(value[-8:], _HIDDEN)
    return _QUOTED_KEY.sub(_HIDDEN, text)
