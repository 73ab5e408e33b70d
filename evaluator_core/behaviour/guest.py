"""What runs inside the sandbox, around the answer. It is sent there as text; nothing outside imports it.

It reads one job from standard input, loads the answer, makes each call, and writes one frame for each result: the job's
nonce, the call's place, the kind of the outcome, and the value in canonical form. The answer may replace what it likes
in its own process, so everything used after loading it is bound here before.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from builtins import (
    AttributeError,
    BaseException,
    ImportError,
    MemoryError,
    StopIteration,
    SystemExit,
    TypeError,
    bool,
    bytearray,
    bytes,
    compile,
    complex,
    dict,
    eval,
    exec,
    float,
    frozenset,
    getattr,
    int,
    iter,
    len,
    list,
    next,
    range,
    set,
    sorted,
    str,
    tuple,
    type,
)

TYPE_CHECKING = False  # importing typing would cost every answer some milliseconds
if TYPE_CHECKING:
    from typing import Any

MAX_TEXT = 60_000
MAX_DEPTH = 40
MAX_ITEMS = 20_000
MAX_STREAM = 1_000
_write, _exit = os.write, os._exit
_StringIO = io.StringIO
_get, _type_name, _dict_of = object.__getattribute__, type.__dict__["__name__"].__get__, type.__dict__["__dict__"].__get__
_join, _encode = str.join, str.encode
_LAZY: Any = (
    type(_ for _ in ()),
    builtins.map,
    builtins.filter,
    builtins.zip,
    builtins.enumerate,
    builtins.reversed,
    type(iter([])),
)
_BY_TEXT = {"decimal": ("Decimal",), "fractions": ("Fraction",), "datetime": ("date", "datetime", "time", "timedelta")}


class TooLarge(Exception):
    """A value that is too large, too deep or endless."""


class Capture(io.TextIOBase):
    """Standard output of the answer: the first part is kept, the rest only counted."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self.parts: list[str] = []
        self.size = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: Any) -> int:
        """Keep it while there is room."""
        if type(text) is not str:
            raise TypeError("write() argument must be str")
        if self.size <= MAX_TEXT:
            list.append(self.parts, text[: MAX_TEXT + 1])
        self.size += len(text)
        return len(text)


def quoted(text: str) -> str:
    """A text as a JSON string of ASCII characters."""
    if len(text) > MAX_TEXT:
        raise TooLarge
    pieces = []
    for character in text:
        code = ord_of(character)
        if character in '"\\':
            pieces += ["\\" + character]
        elif 32 <= code < 127:
            pieces += [character]
        elif code < 0x10000:
            pieces += ["\\u%04x" % code]
        else:
            code -= 0x10000
            pieces += ["\\u%04x\\u%04x" % (0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF))]
    return '"' + _join("", pieces) + '"'


ord_of = builtins.ord


def derives(bases: Any, wanted: Any) -> bool:
    """Whether a class is among the bases; a metaclass may lie about what equals it."""
    for base in bases:
        if base is wanted:
            return True
    return False


class Canon:
    """One value's canonical JSON text, its type in it; counts its parts and refuses what is too large."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self.items = self.length = 0
        self.open: set[int] = set()

    def text(self, value: Any, depth: int = 0) -> str:
        """The canonical text of a value."""
        self.items += 1
        if self.items > MAX_ITEMS or depth > MAX_DEPTH:
            raise TooLarge
        written = self._text(value, type(value), depth)
        self.length += len(written)
        if self.length > 20 * MAX_TEXT or len(written) > MAX_TEXT:
            raise TooLarge
        return written

    def _text(self, value: Any, kind: Any, depth: int) -> str:
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            if int.bit_length(value) > 12_000:
                return '["bigint", %d, "%x"]' % (int.bit_length(value), value % (2**127 - 1))
            return int.__repr__(value)
        if kind is float:
            return '["float", "' + float.__repr__(value) + '"]'
        if kind is complex:
            return '["complex", "' + float.__repr__(value.real) + '", "' + float.__repr__(value.imag) + '"]'
        if kind is str:
            return quoted(value)
        if kind is bytes or kind is bytearray:
            if len(value) > MAX_TEXT:
                raise TooLarge
            return '["bytes", "' + bytes.hex(bytes(value)) + '"]'
        if kind is range:
            return '["range", %d, %d, %d]' % (value.start, value.stop, value.step)
        place = id_of(value)
        if place in self.open:
            return '["cycle"]'
        self.open |= {place}
        try:
            return self._container(value, kind, depth + 1)
        finally:
            self.open -= {place}

    def _container(self, value: Any, kind: Any, depth: int) -> str:
        if kind is list:
            return '["list", ' + self._parts(list.__iter__(value), depth) + "]"
        if kind is tuple:
            return '["tuple", ' + self._parts(tuple.__iter__(value), depth) + "]"
        if kind is set or kind is frozenset:
            return '["set", [' + _join(", ", sorted([self.text(part, depth) for part in kind.__iter__(value)])) + "]]"
        if kind is dict:
            return '["dict", [' + _join(", ", self._pairs(value, depth)) + "]]"
        name = _type_name(kind)
        if derives(_LAZY, kind):
            return '["iterator", ' + self._stream(value, depth) + "]"
        bases = kind.__mro__
        for base, mark in ((dict, "dict"), (list, "list"), (tuple, "tuple"), (set, "set"), (str, "str"), (int, "int")):
            if derives(bases, base):
                return self._derived(value, base, mark, name, depth)
        if name in _BY_TEXT.get(str(kind.__module__), ()):
            return '["value", ' + quoted(name) + ", " + quoted(kind.__repr__(value)) + "]"
        return '["object", ' + quoted(name) + ", " + self._fields(value, kind, depth) + "]"

    def _derived(self, value: Any, base: Any, mark: str, name: Any, depth: int) -> str:
        # A Counter equals the dict of its items and a named tuple equals the tuple: so do they here.
        if base is dict:
            return '["dict", [' + _join(", ", self._pairs(value, depth)) + "]]"
        if base is list or base is tuple:
            return '["' + mark + '", ' + self._parts(base.__iter__(value), depth) + "]"
        if base is set:
            return '["set", [' + _join(", ", sorted([self.text(part, depth) for part in set.__iter__(value)])) + "]]"
        plain = str.__str__(value) if base is str else int.__add__(value, 0)
        return '["derived", ' + quoted(name) + ", " + self.text(plain, depth) + "]"

    def _parts(self, parts: Any, depth: int) -> str:
        return "[" + _join(", ", [self.text(part, depth) for part in parts]) + "]"

    def _pairs(self, value: Any, depth: int) -> list[str]:
        return sorted(["[" + self.text(key, depth) + ", " + self.text(item, depth) + "]" for key, item in dict.items(value)])

    def _stream(self, value: Any, depth: int) -> str:
        parts: list[str] = []
        source = iter(value)
        while len(parts) < MAX_STREAM:
            try:
                part = next(source)
            except StopIteration:
                return "[" + _join(", ", parts) + "]"
            parts += [self.text(part, depth)]
        raise TooLarge

    def _fields(self, value: Any, kind: Any, depth: int) -> str:
        found: dict[Any, Any] = {}
        try:
            own = _get(value, "__dict__")
        except AttributeError:
            own = {}
        if type(own) is dict:
            dict.update(found, own)
        for base in kind.__mro__:
            slots = _dict_of(base).get("__slots__", ())
            for slot in (slots,) if type(slots) is str else slots if type(slots) in (tuple, list) else ():
                try:
                    found[slot] = _get(value, slot)
                except AttributeError:
                    continue
        public = {key: item for key, item in dict.items(found) if type(key) is str and key[:1] != "_"}
        return "[" + _join(", ", self._pairs(public, depth)) + "]"


id_of = builtins.id


def frame(nonce: str, place: int, kind: str, text: str) -> None:
    """One result, in one write: the host takes nothing else."""
    _write(1, _encode(nonce + " " + int.__repr__(place) + " " + kind + " " + text, "ascii", "backslashreplace"))


def name_of(error: Any) -> str:
    """The name of an exception's type, whatever its class says."""
    return quoted(_type_name(type(error))[:80])


def describe(error: Any) -> tuple[str, str]:
    """The kind of outcome that an exception is, and its text."""
    bases = type(error).__mro__
    if derives(bases, MemoryError):
        return "memory", "null"
    if derives(bases, SystemExit):
        return "exited", "null"
    if derives(bases, TooLarge):
        return "too_large", "null"
    if derives(bases, ImportError):
        missing = getattr(error, "name", None)
        return "unsupported", quoted(missing[:80] if type(missing) is str else "")
    return "raised", name_of(error)


def outcome_of_call(answer: Any, call: Any, out: Any) -> str:
    """Make one call; a result of ``None`` is what the call printed or changed."""
    steps = call["steps"]
    subject = answer
    for step in steps:
        name, arguments, named = step["name"], eval(step["arguments"], dict(NAMES)), eval(step["named"], dict(NAMES))
        before = Canon().text(arguments)
        target = answer[name] if subject is answer else getattr(subject, name)
        value = target(*arguments, **named)
        if step["keep"]:
            subject = value
    printed = _join("", out.parts)
    if value is None:
        after = Canon().text(arguments)
        if after != before:
            return '["changed", ' + after + "]"
        if printed:
            return '["printed", ' + quoted(printed) + "]"
    return Canon().text(value)


NAMES = {"__builtins__": {}, "set": set}


def outcome_of_program(code: Any, out: Any) -> str:
    """Run the whole program once; what it prints is its result."""
    try:
        exec(code, {"__name__": "__main__", "__builtins__": builtins})
    except SystemExit:
        pass
    if out.size > MAX_TEXT:
        raise TooLarge
    lines = [line.rstrip() for line in _join("", out.parts).rstrip().split("\n")]
    return '["printed", ' + quoted(_join("\n", lines)) + "]"


def main() -> None:
    """Read the job, load the answer, make the calls."""
    parts = []
    while part := os.read(0, 1 << 20):
        parts += [part]
    job = eval(b"".join(parts).decode(), {"__builtins__": {}})
    nonce, calls, whole = job["nonce"], job["calls"], job["program"]
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # the start-up that gives them is left out
    sys.argv[:] = ["answer.py"]
    frame(nonce, -2, "started", "null")
    out = sys.stdout = sys.stderr = Capture()
    sys.stdin = _StringIO("")
    answer = {"__name__": "answer", "__builtins__": builtins}
    try:
        code = compile(job["code"], "answer.py", "exec", 0, True)
        if not whole:
            module = sys.modules["answer"] = type(sys)("answer")
            answer = module.__dict__
            exec(code, answer)
            missing = [call["steps"][0]["name"] for call in calls if call["steps"][0]["name"] not in answer]
            if missing:
                frame(nonce, -1, "undefined", quoted(missing[0]))
                _exit(0)
    except BaseException as error:
        frame(nonce, -1, *describe(error))
        _exit(0)
    frame(nonce, -1, "loaded", "null")
    for call in calls:
        frame(nonce, call["place"], "begun", "null")
        out = sys.stdout = sys.stderr = Capture()
        sys.stdin = _StringIO(call.get("stdin", ""))
        try:
            kind, text = "value", outcome_of_program(code, out) if whole else outcome_of_call(answer, call, out)
        except BaseException as error:
            kind, text = describe(error)
        frame(nonce, call["place"], kind, text)
    _exit(0)


if __name__ == "__main__":
    main()
