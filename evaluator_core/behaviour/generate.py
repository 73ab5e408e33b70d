"""Inputs made from types: those of the annotations, or those seen in examples. Small first, and the same every time."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

ALPHABET = "abcxyzABC019 ,.-(é"
_EXAMPLES = 60
_BACKEND = "evaluator-repeatable"

Shape = tuple[str, tuple[Any, ...]]
"""A type: its name and the shapes of its parts."""

ANY: Shape = ("any", ())
_EDGES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, -1, 2, 7, 100),
    "float": (0.0, 1.0, -1.5, 2.25),
    "bool": (True, False),
    "str": ("", "a", "aa", "Hello World", "ñandú ß"),
    "bytes": (b"", b"a"),
    "none": (None,),
}


class _Repeatable(HypothesisProvider):
    """Draws nothing from the constants of the modules that happen to be loaded: they differ between processes."""

    def _maybe_draw_constant(self, *arguments: Any, **named: Any) -> None:
        return None


AVAILABLE_PROVIDERS[_BACKEND] = _Repeatable


def shape_of_annotation(text: str | None) -> Shape | None:
    """The shape that an annotation such as ``List[int]`` means; ``None`` for one that is not understood."""
    if not text:
        return None
    try:
        return _shape(ast.parse(text.strip().strip("'\""), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def shape_of_values(values: Sequence[Any]) -> Shape | None:
    """The one shape that fits all values; ``None`` when there is none."""
    shapes = list(dict.fromkeys(_shape_of(value) for value in values))
    merged = shapes[0] if shapes else None
    for shape in shapes[1:]:
        merged = _merge(merged, shape) if merged else None
    return merged


def letters(alphabet: str) -> Shape:
    """The shape of texts made of these characters."""
    return "letters", (alphabet,)


def sentence(words: Sequence[str]) -> Shape:
    """The shape of texts made of these words, with blanks between them."""
    return "sentence", tuple(words)


def usual(shape: Shape) -> Any:
    """A value of a shape that is nothing special: it stands where another argument is at an edge."""
    common: dict[str, Any] = {"int": 2, "float": 2.25, "bool": True, "str": "aa", "bytes": b"a", "none": None}
    values = edges(shape)
    return common[shape[0]] if shape[0] in common else values[-1] if values else 0


def edges(shape: Shape) -> tuple[Any, ...]:
    """The values of a shape that programs forget: empty, zero, negative, one element, duplicates, unicode."""
    name, parts = shape
    if name in _EDGES:
        return _EDGES[name]
    if name == "letters":
        first, last = parts[0][0], parts[0][-1]
        return "", first, last + first, first * 2 + last * 2
    if name == "sentence":
        return "", parts[0], f"{parts[-1]} {parts[0]}"
    if name == "union":
        return tuple(value for part in parts for value in edges(part)[:3])
    if name == "list":
        inner = edges(parts[0]) or (0,)
        return [], [inner[1 % len(inner)]], [inner[1 % len(inner)]] * 2, list(inner[:4])
    if name == "set":
        return set(), {item for item in edges(parts[0])[:2] if item.__hash__}
    if name == "tuple":
        return (tuple((edges(part) or (None,))[0] for part in parts),)
    if name == "dict":
        return {}, {edges(parts[0])[1 % len(edges(parts[0]))]: edges(parts[1])[0]}
    return ()


def generate(shapes: Sequence[Shape], count: int) -> list[tuple[Any, ...]]:
    """So many different tuples of arguments of these shapes, the smaller ones first."""
    found: dict[str, tuple[Any, ...]] = {}

    @seed(20)
    @settings(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        backend=_BACKEND,
    )
    @given(st.tuples(*map(_strategy, shapes)))
    def collect(arguments: tuple[Any, ...]) -> None:
        found.setdefault(repr(arguments), arguments)

    collect()
    ordered = sorted(found, key=lambda text: (len(text), text))
    # Every so-and-so-many-th, so that not only the tiniest are there.
    step = max(1.0, len(ordered) / max(1, count))
    chosen = [ordered[int(place * step)] for place in range(min(count, len(ordered)))]
    return [found[text] for text in chosen]


def _texts(longest: int) -> st.SearchStrategy[str]:
    # Not st.text: it keeps a table of all characters in a folder where the program runs.
    return st.lists(st.sampled_from(ALPHABET), max_size=longest).map("".join)


def _strategy(shape: Shape) -> st.SearchStrategy[Any]:
    name, parts = shape
    if name == "int":
        return st.one_of(st.integers(-10, 20), st.integers(-100, 1000))
    if name == "float":
        return st.integers(-400, 400).map(lambda number: number / 8)
    if name == "bool":
        return st.booleans()
    if name == "str":
        return _texts(12)
    if name == "letters":
        return st.lists(st.sampled_from(parts[0]), max_size=8).map("".join)
    if name == "sentence":
        return st.lists(st.sampled_from(parts), max_size=6).map(" ".join)
    if name == "bytes":
        return st.binary(max_size=8)
    if name == "none":
        return st.none()
    if name == "union":
        return st.one_of(*map(_strategy, parts))
    if name == "list":
        return st.lists(_strategy(parts[0]), max_size=8)
    if name == "set":
        return st.sets(_strategy(parts[0]), max_size=6)
    if name == "tuple":
        return st.tuples(*map(_strategy, parts))
    if name == "dict":
        return st.dictionaries(_strategy(parts[0]), _strategy(parts[1]), max_size=5)
    return st.one_of(st.integers(-10, 20), _texts(6))


_NAMES = {"int": "int", "float": "float", "bool": "bool", "str": "str", "bytes": "bytes", "None": "none"}
_LISTS = {"list", "List", "Sequence", "Iterable", "Collection", "MutableSequence"}
_DICTS = {"dict", "Dict", "Mapping", "MutableMapping"}
_SETS = {"set", "Set", "frozenset", "FrozenSet", "AbstractSet"}


def _shape(node: ast.expr) -> Shape:
    if isinstance(node, ast.Attribute):
        node = ast.Name(node.attr)
    if isinstance(node, ast.Constant) and node.value is None:
        return "none", ()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _shape(ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.Name):
        if node.id in _NAMES:
            return _NAMES[node.id], ()
        bare: dict[str, Shape] = {"Any": ANY, "object": ANY}
        bare |= dict.fromkeys(_LISTS, ("list", (("int", ()),)))
        bare |= dict.fromkeys(_DICTS, ("dict", (("str", ()), ("int", ()))))
        bare |= dict.fromkeys(_SETS, ("set", (("int", ()),)))
        if node.id in bare:
            return bare[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return "union", (_shape(node.left), _shape(node.right))
    if isinstance(node, ast.Subscript):
        base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in _LISTS:
            return "list", (_shape(parts[0]),)
        if base in _SETS:
            return "set", (_shape(parts[0]),)
        if base in _DICTS and len(parts) == 2:
            return "dict", (_shape(parts[0]), _shape(parts[1]))
        if base in ("tuple", "Tuple"):
            if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
                return "tuple", (_shape(parts[0]),) * 3
            return "tuple", tuple(map(_shape, parts))
        if base == "Optional":
            return "union", (_shape(parts[0]), ("none", ()))
        if base == "Union":
            return "union", tuple(map(_shape, parts))
    raise ValueError("not understood")


def _shape_of(value: Any) -> Shape:
    name = type(value).__name__
    if name in _EDGES:
        return name, ()
    if value is None:
        return "none", ()
    if isinstance(value, list | set):
        inner = shape_of_values(sorted(value, key=repr) if isinstance(value, set) else value)
        return name, (inner or ANY,)
    if isinstance(value, tuple):
        return "tuple", tuple(map(_shape_of, value))
    if isinstance(value, dict):
        return "dict", (shape_of_values(list(value)) or ANY, shape_of_values(list(value.values())) or ANY)
    return ANY


def _merge(first: Shape, second: Shape) -> Shape:
    if first == second or second == ANY:
        return first
    if first == ANY:
        return second
    names = {first[0], second[0]}
    if names == {"int", "float"}:
        return "float", ()
    if len(names) == 1 and len(first[1]) == len(second[1]) and first[0] != "union":
        return first[0], tuple(_merge(one, other) for one, other in zip(first[1], second[1], strict=True))
    parts = [*(first[1] if first[0] == "union" else [first]), *(second[1] if second[0] == "union" else [second])]
    return "union", tuple(dict.fromkeys(parts))
