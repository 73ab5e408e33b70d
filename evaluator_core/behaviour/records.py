"""The records of behaviour: what was called, what came back, who agrees with whom. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where an input comes from."""

    USER = "user"
    """The user gave it."""
    EXAMPLE = "example"
    """It stands in the prompt."""
    GENERATED = "generated"
    """It was made from annotations, or from the types of the examples."""
    SHRUNK = "shrunk"
    """It is a smaller form of an input on which answers differ; it explains and does not count in the verdict."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a function, a class or a method, with literal arguments."""

    name: str
    """The function, the class, or the method of what the step before gave."""
    arguments: str = "()"
    """The positional arguments as the text of a tuple of literals."""
    named: str = "{}"
    """The keyword arguments as the text of a dict of literals."""
    apart: bool = False
    """Whether what it gives is left aside: the step after it is a method of the same object."""


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that every answer is put to: calls in a row, or lines on standard input."""

    text: str
    """As a person writes it: ``f([1, 2], 3)``, ``A(5).take(2)``, ``a = A(5); a.take(2); a.left()``, or the lines."""
    source: Source
    """Where it comes from."""
    steps: tuple[Step, ...] = ()
    """The calls; the outcome is that of the last one. Empty for a whole program."""
    stdin: str | None = None
    """What a whole program reads; ``None`` for calls."""
    expected: str | None = None
    """What it should give, as the text of a literal, or the text to be printed; ``None`` when nobody said."""


class Kind(StrEnum):
    """How one call ended."""

    VALUE = "value"
    RAISED = "raised"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASHED = "crashed"
    EXITED = "exited"
    TOO_LARGE = "too_large"
    SKIPPED = "skipped"
    """Not tried: several calls before it had ended the interpreter."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one answer did on one input."""

    kind: Kind
    """How the call ended."""
    text: str = "null"
    """Canonical JSON: the value with its types, or the name of the exception."""


class Status(StrEnum):
    """What became of one answer as a whole. Only answers that ran can agree."""

    RAN = "ran"
    NO_CODE = "no_code"
    EMPTY = "empty"
    """The body is missing: nothing but a docstring, ``pass`` or ``...``."""
    NOT_LOADING = "not_loading"
    """It does not compile, raises while it loads, or does not define what is called."""
    UNSUPPORTED = "unsupported"
    """It needs a module that the sandbox does not have."""
    CRASHED = "crashed"
    """It ended the interpreter, or ran out of time or memory, before any call."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one answer did on all inputs."""

    index: int
    """The sample's index."""
    status: Status
    """What became of it."""
    detail: str = ""
    """Why it did not run, in a word or two; ``""`` when it did."""
    outcomes: tuple[Outcome, ...] = ()
    """One for each input, in their order; empty when it did not run."""


@dataclass(frozen=True, slots=True)
class Group:
    """Answers that gave the same on every input of the verdict."""

    members: tuple[int, ...]
    """Their indices, in order."""
    typical: int
    """The index of the one whose code is most like the others'."""


@dataclass(frozen=True, slots=True)
class BehaviourMetrics:
    """What the groups say. ``None`` where nothing could be run."""

    behaviour_agreement_percent: float | None
    """Share of all pairs of answers that behave alike, in percent; an answer that did not run agrees with none."""
    largest_group: int | None
    """How many answers the largest group has."""
    groups: int | None
    """How many groups there are."""
    semantic_entropy: float | None
    """How spread the answers are over behaviours, in [0, 1]: 0 when all are alike, 1 when no two are."""


@dataclass(frozen=True, slots=True)
class Correctness:
    """How answers meet the expected results; it says nothing about whether they agree with each other."""

    expectations: int
    """How many inputs have an expected result."""
    met: tuple[tuple[int, int], ...]
    """For each answer its index and how many expectations it meets."""
    pass_percent: float
    """Share of answers that meet all of them."""
    pass_at: tuple[tuple[int, float], ...]
    """Pairs (k, pass@k in [0, 1]): the chance that one of k answers drawn without return meets all."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The smallest input seen on which two answers differ."""

    input: Input
    """The input."""
    first: Outcome
    """What the first answer gave."""
    second: Outcome
    """What the second one gave."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """N answers run on the same inputs."""

    engine: str
    """What ran them, with its version."""
    target: str | None
    """The function or class that was called; ``None`` for whole programs, or when nothing could be found."""
    inputs: tuple[Input, ...]
    """All inputs that were tried."""
    in_verdict: tuple[bool, ...]
    """For each input whether it counts: those on which many answers raise are outside of the contract."""
    trials: tuple[Trial, ...]
    """What each answer did."""
    groups: tuple[Group, ...]
    """Largest first."""
    metrics: BehaviourMetrics
    """What the groups say."""
    consensus: int | None
    """The index of the typical answer of the largest group; ``None`` when no two answers agree."""
    correctness: Correctness | None
    """Only where expected results are known."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""
