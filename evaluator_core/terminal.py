"""What the terminal shows of a score. Texts from outside are stripped of everything that could steer a terminal."""

from __future__ import annotations

from typing import TextIO

from evaluator_core.behaviour import Behaviour
from evaluator_core.behaviour.showing import LIMITS, show_correctness, show_numbers
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, read
from evaluator_core.statistics import AIM_POINTS, Uncertainty, uncertainty
from evaluator_core.types import Score
from evaluator_core.under_way import Progress

_WIDTH = 72
_BAR = 20
_LEVEL = "95 % intervals, of what endlessly many answers would give"


def printable(text: str, width: int = _WIDTH) -> str:
    """The text on one line of at most ``width`` characters, with nothing in it but visible characters and spaces."""
    visible = " ".join("".join(character if character.isprintable() else " " for character in text[: 4 * width]).split())
    return visible if len(visible) <= width and len(text) <= 4 * width else visible[: width - 1] + "…"


def summary_text(score: Score, *, model: str, question: str, saved_file: str | None, behaviour: Behaviour | None = None) -> str:
    """The compact table of a score, its reading, and what a reader must know."""
    metrics, found = score.metrics, uncertainty(score, behaviour)
    lines = [
        f"Model                  {printable(model)}",
        f"Prompt                 {printable(question)}",
        f"Language               {printable(score.language)}",
        f"Answers                {len(score.samples)}",
        "",
        *(
            f"{label:<23}{_percent(getattr(metrics, field))}  {_interval(found, field):<16}{explain(field, score.threshold)}"
            for field, label in LABELS.items()
        ),
        "",
    ]
    if behaviour is not None:
        lines += [f"{number.label:<23}{number.text:>8}  {number.explanation}" for number in show_numbers(behaviour)]
        right = show_correctness(behaviour)
        lines += [*([f"Expected results       {right}"] if right else []), ""]
    reading = read(metrics)
    if reading is not None:
        lines += [READING_WORDS[reading], CAUTION]
    if found.reason is not None:
        lines.append(f"{found.reason[0].upper()}{found.reason[1:]}: {len(score.samples)}.")
    elif found.samples_needed is not None:
        lines.append(f"In brackets: {_LEVEL}. {_needed(found)}")
    notes = (*score.notes, *((*behaviour.notes, LIMITS) if behaviour else ()))
    lines += [f"Note: {printable(note, 200)}" for note in notes]
    if saved_file is not None:
        lines.append(f"Saved as {printable(saved_file, 400)}")
    return "\n".join(lines)


def _interval(found: Uncertainty, field: str) -> str:
    interval = found.intervals.get(field)
    return "" if interval is None else f"({interval.low:.1f} to {interval.high:.1f})"


def _percent(value: float | None) -> str:
    return "     –  " if value is None else f"{value:6.1f} %"


def _needed(found: Uncertainty) -> str:
    if found.samples_needed is None or found.samples_needed <= found.n_samples:
        return f"Agreement and confidence are known to ± {AIM_POINTS:g} points."
    return f"About {found.samples_needed:,} answers in all would bring agreement and confidence to ± {AIM_POINTS:g} (projected)."


class ProgressLine:
    """One line that tells how far a run is, on a terminal; silent elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        """``stream`` is where people look: standard error."""
        self._stream = stream
        self._shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=self._stream)

    def show(self, progress: Progress) -> None:
        """Draw the line anew."""
        if not self._stream.isatty():
            return
        done, failed, total = len(progress.replies), len(progress.failures), progress.requested
        filled = round(_BAR * (done + failed) / total)
        words = progress.stage or ("comparing" if progress.scoring else f"{progress.waiting} to come")
        line = f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {total} answers, {failed} failed, {words}"
        print(f"{line:<{_BAR + 90}}", end="", file=self._stream, flush=True)
        self._shown = True
