"""The heatmap of a report: the hybrid matrix as an SVG drawing, with its scale. It holds numbers alone, no text from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator_core.types import Matrix, Score

# Cividis: perceptually uniform, and the same to people who do not tell red from green.
_STOPS = tuple(
    (int(stop[:2], 16), int(stop[2:4], 16), int(stop[4:], 16))
    for stop in "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838".split()
)
_LIGHT_FROM = 0.465  # from here on black is easier to read on the colour than white
_MOST_LABELS, _MOST_TOOLTIPS, _MOST_CELLS = 15, 60, 200


def draw_heatmap(score: Score) -> Iterator[str]:
    """The hybrid matrix as a drawing, with its scale; nothing when there is no pair."""
    count = len(score.samples)
    if count < 2:
        return
    numbers = [sample.index + 1 for sample in score.samples]
    block = -(-count // _MOST_CELLS)  # thousands of answers are drawn as means of blocks
    grid = score.hybrid if block == 1 else _block_means(score.hybrid, block)
    size = len(grid)
    side = 40 if size <= _MOST_LABELS else max(3, 600 // size)
    margin = 40
    width, height = max(size * side, 240) + margin + 10, size * side + margin + 60
    wide = ' class="wide"' if size > 9 else ""  # on a telephone it scrolls rather than shrinks
    label = f"Heatmap of the hybrid similarity of {count} answers to each other, from 0, dark blue, to 1, yellow"
    yield '<h2>How alike the answers are</h2>\n<figure tabindex="0">'
    yield f'<svg{wide} width="{width}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    yield f'<g transform="translate({margin} {margin})">'
    yield from _axes(numbers[::block], side)
    yield from _cells(grid, numbers, side) if size <= _MOST_TOOLTIPS else _plain_cells(grid, side)
    yield from _legend(score.threshold, size * side + 16)
    means = f" Each cell is the mean of up to {block} × {block} pairs." if block > 1 else ""
    yield f"</g>\n</svg>\n<figcaption>Hybrid similarity of each pair of answers.{means}</figcaption>\n</figure>"


def colour(value: float) -> str:
    """The colour of a similarity in [0, 1], as ``#rrggbb``: dark blue for 0, yellow for 1."""
    place = min(1.0, max(0.0, value)) * (len(_STOPS) - 1)
    below = min(int(place), len(_STOPS) - 2)
    mixed = (round(low + (high - low) * (place - below)) for low, high in zip(_STOPS[below], _STOPS[below + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _block_means(matrix: Matrix, block: int) -> Matrix:
    starts = np.arange(0, len(matrix), block)
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    sizes = np.diff(np.append(starts, len(matrix)))
    means: Matrix = sums / np.outer(sizes, sizes)
    return means


def _axes(numbers: Sequence[int], side: int) -> Iterator[str]:
    """The answers' numbers along both edges; only some of them where all would not fit."""
    step = -(-len(numbers) // _MOST_LABELS)
    for place in range(0, len(numbers), step):
        middle = place * side + side / 2
        yield f'<text x="{middle:g}" y="-8" text-anchor="middle">{numbers[place]}</text>'
        yield f'<text x="-6" y="{middle + 4.5:g}" text-anchor="end">{numbers[place]}</text>'


def _cells(grid: Matrix, numbers: Sequence[int], side: int) -> Iterator[str]:
    has_labels = len(numbers) <= _MOST_LABELS
    for row, values in enumerate(grid.tolist()):
        for column, value in enumerate(values):
            x, y = column * side, row * side
            tooltip = f"<title>Answers {numbers[row]} and {numbers[column]}: {value:.3f}</title>"
            yield f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="{colour(value)}">{tooltip}</rect>'
            if has_labels:
                ink = "#000" if value >= _LIGHT_FROM else "#fff"
                place = f'x="{x + side // 2}" y="{y + side / 2 + 4.5:g}" text-anchor="middle" pointer-events="none"'
                yield f'<text {place} fill="{ink}">{value:.2f}</text>'


def _plain_cells(grid: Matrix, side: int) -> Iterator[str]:
    """One path for each of a hundred colours: a large matrix stays a small file."""
    levels = np.rint(grid * 100).astype(int)
    for level in np.unique(levels).tolist():
        places = np.argwhere(levels == level).tolist()
        path = "".join(f"M{column * side} {row * side}h{side}v{side}h-{side}z" for row, column in places)
        yield f'<path fill="{colour(level / 100)}" shape-rendering="crispEdges" d="{path}"/>'


def _legend(threshold: float, top: int) -> Iterator[str]:
    """The scale from 0 to 1 with a mark at the threshold."""
    yield from (f'<rect x="{2 * k}" y="{top}" width="2.2" height="12" fill="{colour(k / 99)}"/>' for k in range(100))
    yield f'<path d="M{200 * threshold:g} {top - 4}v20" stroke="currentColor" stroke-width="2"/>'
    yield f'<text x="0" y="{top + 28}">0</text><text x="200" y="{top + 28}" text-anchor="end">1</text>'
    yield f'<text x="100" y="{top + 28}" text-anchor="middle">threshold {threshold:g}</text>'
