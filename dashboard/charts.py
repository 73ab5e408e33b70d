"""Charts: functions from records to an Altair chart. They draw nothing themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import altair as alt
import numpy as np
import pandas as pd

from evaluator_core.insights import agreement_curve
from evaluator_core.metrics import pair_values
from evaluator_core.types import Matrix

SCALE = alt.Scale(domain=[0, 1], scheme="cividis")
"""One colour scale for every similarity: even in lightness, and told apart by the colour-blind."""

PALETTE = ("#2f7fc1", "#d9480f", "#128a63", "#b5589a", "#9a7400", "#6b7a8c", "#0c8499", "#8864d4")
"""For lines and bars: each stands out from the light and the dark background alike, at more than 4 to 1."""

INK = "currentColor"
"""The colour of the page's text around a chart, in either theme."""

LABELS_UP_TO = 12
BLACK_FROM = 0.465
"""From this similarity on black is easier to read on a cell than white."""
CANVAS = {"embedOptions": {"renderer": "canvas"}}
PLAIN: dict[str, Any] = {"tooltip": {"content": "data"}, "aria": False}
"""For marks by the thousand: a tooltip that is the row itself, and no description, which a canvas does not show anyhow.

Both are otherwise texts that the browser composes for every single cell before it draws the first.
"""


_Drawn = TypeVar("_Drawn", alt.Chart, alt.LayerChart | alt.FacetChart)


def in_page_ink(chart: _Drawn) -> _Drawn:
    """The chart with its words in the colour of the page's text: the grey of Streamlit's own theme is too faint on white.

    For charts that are drawn as SVG. A canvas does not know the colour: such a chart is shown with ``theme=None``.
    """
    inked: _Drawn = chart.configure_axis(labelColor=INK, titleColor=INK).configure_legend(labelColor=INK, titleColor=INK)
    return inked


def heatmap(
    matrix: Matrix,
    names: Sequence[int],
    order: Sequence[int],
    *,
    title: str,
    selectable: bool = True,
    room: Sequence[int] | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Similarity of every pair. ``names`` are the sample indices, ``order`` the rows in the order to show them.

    ``room`` are the indices to leave room for, when some of their samples are still to come: cells fill in, and nothing moves.
    A click selects ``{"First": …, "Second": …}``, the two answers as people count them, from 1, under the name ``pair``.
    """
    rows = np.repeat(np.array(order, dtype=int), len(order))
    columns = np.tile(np.array(order, dtype=int), len(order))
    index = np.array(names, dtype=int)
    frame = pd.DataFrame(
        {
            "First": (index[rows] + 1).astype(np.int32),
            "Second": (index[columns] + 1).astype(np.int32),
            "Similarity": matrix[rows, columns].round(3),  # what the tooltip shows; the pair beside it tells the rest
        }
    )
    shown = [int(index[row]) + 1 for row in order] if room is None else [number + 1 for number in room]
    size = len(shown)
    axis = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, labelPadding=6, ticks=False, domain=False)
    # The order as the scale's domain: given as ``sort``, the browser looks every row up in a chain of N comparisons.
    in_order = alt.Scale(domain=shown)
    base = alt.Chart(frame).encode(
        x=alt.X("Second:O", sort=None, scale=in_order, title=None, axis=axis),
        y=alt.Y("First:O", sort=None, scale=in_order, title=None, axis=axis),
    )
    cells = base.mark_rect(
        stroke=None if size > 40 else "rgba(128,128,128,0.35)", cursor="pointer" if selectable else "default", **PLAIN
    ).encode(color=alt.Color("Similarity:Q", scale=SCALE, legend=alt.Legend(title=title, orient="bottom", gradientLength=240)))
    if selectable:
        cells = cells.add_params(alt.selection_point(name="pair", fields=["First", "Second"]))
    layers = [cells]
    if size <= LABELS_UP_TO:
        layers.append(cell_labels(base))
    side = 110 + max(240, min(480, 40 * size))  # the height holds axis and legend too
    return alt.layer(*layers).properties(height=side, usermeta=CANVAS)


def cell_labels(base: alt.Chart) -> alt.Chart:
    """The similarity written into each cell."""
    ink = alt.condition(alt.datum.Similarity >= BLACK_FROM, alt.value("#000000"), alt.value("#ffffff"))
    labels: alt.Chart = base.mark_text(fontSize=11).encode(text=alt.Text("Similarity:Q", format=".2f"), color=ink)
    return labels


def distribution(matrix: Matrix, threshold: float) -> alt.LayerChart | alt.FacetChart:
    """How many pairs have which similarity, with the threshold marked."""
    counts, edges = np.histogram(pair_values(matrix), bins=20, range=(0.0, 1.0))
    frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "Pairs": counts})
    bars = (
        alt.Chart(frame)
        .mark_bar(color=PALETTE[0], binSpacing=2)
        .encode(
            x=alt.X("from:Q", bin="binned", title="Similarity of a pair", scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            y=alt.Y("Pairs:Q", title="Pairs", axis=alt.Axis(tickMinStep=1)),
            tooltip=[alt.Tooltip("from:Q", title="From", format=".2f"), alt.Tooltip("to:Q", title="To", format=".2f"), "Pairs:Q"],
        )
    )
    return in_page_ink(alt.layer(bars, _threshold_rule(threshold)).properties(height=210))


def agreement_over_thresholds(matrix: Matrix, threshold: float) -> alt.LayerChart | alt.FacetChart:
    """Agreement at every threshold, with the chosen one marked: does the conclusion hang on it?"""
    frame = pd.DataFrame(agreement_curve(matrix), columns=["Threshold", "Agreement"])
    line = (
        alt.Chart(frame)
        .mark_line(color=PALETTE[0], interpolate="step-before", strokeWidth=2.5)
        .encode(
            x=alt.X("Threshold:Q", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("Agreement:Q", title="Agreement, %", scale=alt.Scale(domain=[0, 100])),
            tooltip=[alt.Tooltip("Threshold:Q", format=".2f"), alt.Tooltip("Agreement:Q", format=".1f")],
        )
    )
    return in_page_ink(alt.layer(line, _threshold_rule(threshold)).properties(height=210))


# A tick says as little as tells it from its neighbours: a year, a day, a time of day.
_TICK = (
    "timeFormat(datum.value, '%S') != '00' ? timeFormat(datum.value, '%H:%M:%S') : "
    "timeFormat(datum.value, '%H:%M') != '00:00' ? timeFormat(datum.value, '%H:%M') : "
    "timeFormat(datum.value, '%m-%d') != '01-01' ? timeFormat(datum.value, '%d %b') : timeFormat(datum.value, '%Y')"
)


def trend(
    frame: pd.DataFrame, metric: str, label: str, colours: Mapping[str, str], changes: Mapping[str, pd.Timestamp] | None = None
) -> alt.LayerChart | alt.FacetChart:
    """One metric over time, a line for each series, in its colour. Columns: time, series, name, n_samples and the metric, and
    ``low``, ``high`` where its interval ends. ``changes`` are the change points to mark, by series.

    A click on a point selects ``{"name": …}``, the run's file, under the name ``run``. Dragging moves along the time; the wheel
    zooms with Shift held only, so that it scrolls the page otherwise.
    """
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    dated = frame.dropna(subset=["time"]).assign(series=frame["series"].astype("category"))
    for column in ("low", "high"):
        if column not in dated:
            dated[column] = np.nan
    dated["interval"] = [
        "" if np.isnan(low) else f"{low:.1f} to {high:.1f}" for low, high in zip(dated["low"], dated["high"], strict=True)
    ]
    base = alt.Chart(dated).encode(
        x=alt.X(
            "time:T",
            title=None,
            scale=alt.Scale(padding=14),
            axis=alt.Axis(labelExpr=_TICK, labelOverlap=True, grid=False, labelPadding=6),
        ),
        # A little room beyond both ends: a point at 0 or 100 is shown whole.
        y=alt.Y(
            f"{metric}:Q",
            title=None,
            scale=alt.Scale(domain=[-6, 106]),
            axis=alt.Axis(values=[0, 25, 50, 75, 100], ticks=False, domain=False, labelPadding=6),
        ),
        color=alt.Color("series:N", scale=scale, legend=None),
    )
    points = (
        base.mark_point(filled=True, size=80, opacity=1, cursor="pointer", aria=False, invalid=None)
        .encode(
            tooltip=[
                alt.Tooltip("time:T", title="Time", format="%Y-%m-%d %H:%M:%S"),
                alt.Tooltip("series:N", title="Run of"),
                alt.Tooltip(f"{metric}:Q", title=label, format=".1f"),
                alt.Tooltip("interval:N", title="95 % interval"),
                alt.Tooltip("n_samples:Q", title="Answers"),
            ]
        )
        .add_params(alt.selection_point(name="run", fields=["name"]))
    )
    known = dated[dated["low"].notna()]
    whiskers: list[alt.Chart] = []
    if len(known):
        thin = base.properties(data=known).mark_rule(strokeWidth=1.5, opacity=0.55, aria=False)
        whiskers.append(thin.encode(y="low:Q", y2="high:Q"))
    marked = pd.DataFrame([{"series": series, "time": time} for series, time in (changes or {}).items()])
    if len(marked):
        rule = alt.Chart(marked).mark_rule(strokeDash=[4, 4], strokeWidth=2, aria=False)
        whiskers.append(rule.encode(x="time:T", color=alt.Color("series:N", scale=scale, legend=None)))
    lines = base.mark_line(strokeWidth=2, aria=False, invalid=None).add_params(zoom)
    return alt.layer(lines, *whiskers, points).properties(height=190, usermeta=CANVAS)


def _threshold_rule(threshold: float) -> alt.Chart:
    frame = pd.DataFrame({"Threshold": [threshold]})
    rule: alt.Chart = alt.Chart(frame).mark_rule(strokeDash=[5, 4], strokeWidth=2, color="#d9480f").encode(x="Threshold:Q")
    return rule
