"""Charts: functions from records to an Altair chart. They draw nothing themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evaluator_core.insights import agreement_curve
from evaluator_core.metrics import pair_values
from evaluator_core.types import Matrix

SCALE = alt.Scale(domain=[0, 1], scheme="cividis")
"""One colour scale for every similarity: even in lightness, and told apart by the colour-blind."""

LABELS_UP_TO = 12
CANVAS = {"embedOptions": {"renderer": "canvas"}}
PLAIN: dict[str, Any] = {"tooltip": {"content": "data"}, "aria": False}
"""For marks by the thousand: a tooltip that is the row itself, and no description, which a canvas does not show anyhow.

Both are otherwise texts that the browser composes for every single cell before it draws the first.
"""


def heatmap(
    matrix: Matrix, names: Sequence[int], order: Sequence[int], *, title: str, selectable: bool = True
) -> alt.LayerChart | alt.FacetChart:
    """Similarity of every pair. ``names`` are the sample indices, ``order`` the rows in the order to show them.

    A click selects ``{"First": …, "Second": …}``, the two answers as people count them, from 1, under the name ``pair``.
    """
    size = len(order)
    rows, columns = np.repeat(np.array(order, dtype=int), size), np.tile(np.array(order, dtype=int), size)
    index = np.array(names, dtype=int)
    frame = pd.DataFrame(
        {
            "First": (index[rows] + 1).astype(np.int32),
            "Second": (index[columns] + 1).astype(np.int32),
            "Similarity": matrix[rows, columns].round(3),  # what the tooltip shows; the pair beside it tells the rest
        }
    )
    shown = [int(index[row]) + 1 for row in order]
    axis = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, domain=False)
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
        ink = alt.condition(alt.datum.Similarity > 0.6, alt.value("#1a1a1a"), alt.value("#ffffff"))
        layers.append(base.mark_text(fontSize=11).encode(text=alt.Text("Similarity:Q", format=".2f"), color=ink))
    side = 110 + max(240, min(480, 40 * size))  # the height holds axis and legend too
    return alt.layer(*layers).properties(height=side, usermeta=CANVAS)


def distribution(matrix: Matrix, threshold: float) -> alt.LayerChart | alt.FacetChart:
    """How many pairs have which similarity, with the threshold marked."""
    counts, edges = np.histogram(pair_values(matrix), bins=20, range=(0.0, 1.0))
    frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "Pairs": counts})
    bars = (
        alt.Chart(frame)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", bin="binned", title="Similarity of a pair", scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            y=alt.Y("Pairs:Q", title="Pairs", axis=alt.Axis(tickMinStep=1)),
            tooltip=[alt.Tooltip("from:Q", format=".2f"), alt.Tooltip("to:Q", format=".2f"), "Pairs:Q"],
        )
    )
    return alt.layer(bars, _threshold_rule(threshold)).properties(height=210)


def agreement_over_thresholds(matrix: Matrix, threshold: float) -> alt.LayerChart | alt.FacetChart:
    """Agreement at every threshold, with the chosen one marked: does the conclusion hang on it?"""
    frame = pd.DataFrame(agreement_curve(matrix), columns=["Threshold", "Agreement"])
    line = (
        alt.Chart(frame)
        .mark_line(interpolate="step-before", strokeWidth=2.5)
        .encode(
            x=alt.X("Threshold:Q", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("Agreement:Q", title="Agreement, %", scale=alt.Scale(domain=[0, 100])),
            tooltip=[alt.Tooltip("Threshold:Q", format=".2f"), alt.Tooltip("Agreement:Q", format=".1f")],
        )
    )
    return alt.layer(line, _threshold_rule(threshold)).properties(height=210)


def trend(frame: pd.DataFrame, metric: str, label: str, *, legend: bool) -> alt.LayerChart | alt.FacetChart:
    """One metric over time, a line for each series; drag and scroll to zoom. Columns: time, series, name and the metric.

    A click on a point selects ``{"name": …}``, the run's file, under the name ``run``.
    """
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"])
    key = alt.Legend(orient="bottom", columns=1, labelLimit=700, title=None) if legend else None
    dated = frame.dropna(subset=["time"]).assign(series=frame["series"].astype("category"))
    base = alt.Chart(dated).encode(
        x=alt.X("time:T", title=None, scale=alt.Scale(padding=14)),
        y=alt.Y(f"{metric}:Q", title=f"{label}, %", scale=alt.Scale(domain=[0, 100])),
        color=alt.Color("series:N", legend=key),
    )
    points = (
        base.mark_point(filled=True, size=80, opacity=1, cursor="pointer", aria=False, invalid=None)
        .encode(
            tooltip=[
                alt.Tooltip("time:T", title="Time", format="%Y-%m-%d %H:%M:%S"),
                alt.Tooltip("series:N", title="Run of"),
                alt.Tooltip(f"{metric}:Q", title=label, format=".1f"),
                alt.Tooltip("n_samples:Q", title="Answers"),
            ]
        )
        .add_params(alt.selection_point(name="run", fields=["name"]))
    )
    return alt.layer(base.mark_line(strokeWidth=2, aria=False, invalid=None).add_params(zoom), points).properties(
        height=190, usermeta=CANVAS
    )


def _threshold_rule(threshold: float) -> alt.Chart:
    frame = pd.DataFrame({"Threshold": [threshold]})
    rule: alt.Chart = alt.Chart(frame).mark_rule(strokeDash=[5, 4], strokeWidth=2, color="#d9480f").encode(x="Threshold:Q")
    return rule
