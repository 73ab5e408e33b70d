"""Python functions made from templates by a seeded generator: varied, 5 to 40 lines, and the same ones each time."""

from __future__ import annotations

import random

_NAMES = """values items numbers words total count result best current left right index size key text line table seen queue
    found limit offset buffer score weight parts node depth width height start end step""".split()
_VERBS = "compute find collect merge filter count_all sort_by reduce_to check build parse split".split()
_OPERATORS = ["+", "-", "*", "//", "%", "|", "&"]
_COMPARISONS = ["<", ">", "<=", ">=", "==", "!="]


def generated_functions(count: int) -> list[str]:
    """That many functions, no two of them equal."""
    rng = random.Random(20_250_918)
    functions: dict[str, None] = {}
    while len(functions) < count:
        functions[_function(rng)] = None
    return list(functions)


def _function(rng: random.Random) -> str:
    arguments = rng.sample(_NAMES, rng.randint(1, 4))
    lines = [f"def {rng.choice(_VERBS)}_{rng.choice(_NAMES)}({', '.join(arguments)}):"]
    if rng.random() < 0.5:
        lines.append(f'    """Return the {rng.choice(_NAMES)} of the {rng.choice(_NAMES)}, {rng.choice(_NAMES)} first."""')
    result = rng.choice(_NAMES)
    lines.append(f"    {result} = {rng.choice(['0', '[]', '{}', 'set()', 'None', arguments[0]])}")
    length = rng.randint(4, 38)
    while len(lines) < length:
        lines += _statement(rng, depth=1, room=length - len(lines))
    return "\n".join([*lines, f"    return {_expression(rng, 1)}"]) + "\n"


def _statement(rng: random.Random, depth: int, room: int) -> list[str]:
    indent, name = "    " * depth, rng.choice(_NAMES)
    kind = rng.random()
    if kind < 0.5 or depth > 3 or room < 3:
        return [indent + line for line in _simple(rng, name)]
    body = [line for _ in range(rng.randint(1, 3)) for line in _statement(rng, depth + 1, (room - 1) // 3)]
    if kind < 0.65:
        return [f"{indent}for {name} in {_expression(rng, 1)}:", *body]
    if kind < 0.85:
        otherwise = [f"{indent}else:", *_statement(rng, depth + 1, 1)] if rng.random() < 0.4 else []
        return [f"{indent}if {_expression(rng, 1)} {rng.choice(_COMPARISONS)} {_expression(rng, 1)}:", *body, *otherwise]
    if kind < 0.93:
        return [f"{indent}while {name} {rng.choice(_COMPARISONS)} {_expression(rng, 2)}:", *body]
    return [f"{indent}try:", *body, f"{indent}except (KeyError, ValueError):", f"{indent}    {name} = None"]


def _simple(rng: random.Random, name: str) -> list[str]:
    other, value = rng.choice(_NAMES), _expression(rng, 2)
    return rng.choice(
        [
            [f"{name} = {value}"],
            [f"{name} {rng.choice(['+', '-', '*'])}= {value}"],
            [f"{name}.append({value})"],
            [f"{name}[{other}] = {value}"],
            [f"{name}, {other} = {other}, {value}"],
            [f"# the {name} of the {other}", f"{name} = {value}"],
            [f"{name} = [{other} for {other} in {value} if {other}]"],
            [f"{name}.update({{{other}: {value}}})"],
        ]
    )


def _expression(rng: random.Random, depth: int) -> str:
    name = rng.choice(_NAMES)
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([name, str(rng.randint(0, 99)), f'"{name}"'])
    inner = _expression(rng, depth - 1)
    return rng.choice(
        [
            f"{inner} {rng.choice(_OPERATORS)} {_expression(rng, depth - 1)}",
            f"{rng.choice(['len', 'sum', 'max', 'min', 'sorted', 'abs', 'list'])}({inner})",
            f"{name}[{inner}]",
            f"{name}.get({inner}, {rng.randint(0, 9)})",
            f"({inner}, {name})",
            f"not {name}",
            f"{name}[{rng.randint(0, 3)}:]",
        ]
    )
