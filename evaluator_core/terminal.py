"""What the terminal shows of a score. Texts from outside are stripped of everything that could steer a terminal."""

from __future__ import annotations

from typing import TextIO

from evaluator_core.evaluation import Progress
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, read
from evaluator_core.types import Score

_WIDTH = 72
_BAR = 20


def printable(text: str, width: int = _WIDTH) -> str:
    """The text on one line of at most ``width`` characters, with nothing in it but visible characters and spaces."""
    visible = " ".join("".join(character if character.isprintable() else " " for character in text[: 4 * width]).split())
    return visible if len(visible) <= width and len(text) <= 4 * width else visible[: width - 1] + "…"


def summary_text(score: Score, *, model: str, question: str, saved_file: str | None) -> str:
    """The compact table of a score, its reading, and what a reader must know."""
    metrics = score.metrics
    lines = [
        f"Model                  {printable(model)}",
        f"Prompt                 {printable(question)}",
        f"Language               {printable(score.language)}",
        f"Answers                {len(score.samples)}",
        "",
        *(
            f"{label:<23}{_percent(getattr(metrics, field))}  {explain(field, score.threshold)}"
            for field, label in LABELS.items()
        ),
        "",
    ]
    reading = read(metrics)
    if reading is not None:
        lines += [READING_WORDS[reading], CAUTION]
    lines += [f"Note: {printable(note, 200)}" for note in score.notes]
    if saved_file is not None:
        lines.append(f"Saved as {printable(saved_file, 400)}")
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "     –  " if value is None else f"{value:6.1f} %"


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
        words = "comparing" if progress.scoring else f"{progress.waiting} to come"
        line = f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {total} answers, {failed} failed, {words}"
        print(f"{line:<{_BAR + 50}}", end="", file=self._stream, flush=True)
        self._shown = True
