"""What the answers do, drawn: the quadrant of pairs, and the table of inputs and groups. They draw nothing themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from dashboard.charts import CANVAS, PLAIN
from dashboard.words import answer_name, visible
from evaluator_core.behaviour import Behaviour
from evaluator_core.behaviour.pairs import Corner, PairBehaviour
from evaluator_core.behaviour.records import Group, Source, Status
from evaluator_core.behaviour.showing import SOURCES, STATUSES, show_outcome

# Each stands out from the light and the dark background alike, at more than 4 to 1.
COLOURS = {
    Corner.LOOKS_ALIKE: "#d9480f",
    Corner.SAME: "#2f7fc1",
    Corner.DOES_ALIKE: "#128a63",
    Corner.DIFFERENT: "#7a8794",
}
_LABELS = {  # where the name of each region stands: left or right, above or below
    Corner.LOOKS_ALIKE: ("right", "Similar code,\ndifferent behaviour"),
    Corner.SAME: ("right", "Same code,\nsame behaviour"),
    Corner.DOES_ALIKE: ("left", "Different code,\nsame behaviour"),
    Corner.DIFFERENT: ("left", "Different\nin both"),
}
_TOP = 1.22
GROUPS_SHOWN = 40


def quadrant(pairs: Sequence[PairBehaviour], threshold: float) -> alt.LayerChart | alt.FacetChart:
    """Every pair by the likeness of its code and of its behaviour, in four named regions.

    A click selects ``{"First": …, "Second": …}``, the two answers as people count them, under the name ``pair``.
    """
    frame = pd.DataFrame(
        {
            "First": [pair.i + 1 for pair in pairs],
            "Second": [pair.j + 1 for pair in pairs],
            "Code": [round(pair.structure, 3) for pair in pairs],
            "Behaviour": [round(pair.behaviour, 3) for pair in pairs],
            "Pair": [pair.corner.value for pair in pairs],
        }
    )
    # The threshold lies in the middle: most pairs are on its one side or close to it, and each region has room for its name.
    exponent = min(8.0, max(0.25, math.log(0.5) / math.log(threshold))) if 0 < threshold < 1 else 1.0
    x = alt.X(
        "Code:Q",
        title="Similarity of the code",
        scale=alt.Scale(type="pow", exponent=exponent, domain=[0, 1]),
        axis=alt.Axis(values=sorted({0.0, 0.7, threshold, 0.95, 1.0}), format=".2~f", grid=False),
    )
    y = alt.Y(
        "Behaviour:Q",
        title="Share of inputs with the same result",
        scale=alt.Scale(domain=[-0.12, _TOP]),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%", grid=False),
    )
    names = [corner.value for corner in Corner]
    colour = alt.Color("Pair:N", scale=alt.Scale(domain=names, range=[COLOURS[corner] for corner in Corner]), legend=None)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=110, opacity=0.7, cursor="pointer", **PLAIN)
        .encode(x=x, y=y, color=colour)
        .add_params(alt.selection_point(name="pair", fields=["First", "Second"]))
    )
    # Only equal on every input is the same: the line lies between that and the nearest pair that differs somewhere.
    nearest = max((pair.behaviour for pair in pairs if pair.behaviour < 1), default=0.0)
    rule: dict[str, Any] = {"strokeDash": [5, 4], "color": "#7a8794"}
    lines = [
        alt.Chart(pd.DataFrame({"Code": [threshold]})).mark_rule(**rule).encode(x="Code:Q"),
        alt.Chart(pd.DataFrame({"Behaviour": [max(0.9, (1 + nearest) / 2)]})).mark_rule(**rule).encode(y="Behaviour:Q"),
    ]
    return alt.layer(*lines, *map(_region_name, _LABELS), points).properties(height=400, usermeta=CANVAS)


def _region_name(corner: Corner) -> alt.Chart:
    side, text = _LABELS[corner]
    above = corner in (Corner.SAME, Corner.DOES_ALIKE)
    where = pd.DataFrame({"Code": [float(side == "right")], "Behaviour": [_TOP if above else -0.1], "name": [text]})
    mark = alt.Chart(where).mark_text(
        align=side,  # type: ignore[arg-type]
        baseline="top" if above else "bottom",
        dx=-4 if side == "right" else 4,
        lineBreak="\n",
        fontSize=12,
        fontWeight=600,
        color=COLOURS[corner],
    )
    named: alt.Chart = mark.encode(x="Code:Q", y="Behaviour:Q", text="name:N")
    return named


def inputs_table(behaviour: Behaviour) -> pd.DataFrame:
    """A row for each input, a column for each group: what its answers gave."""
    rows = []
    for place, item in enumerate(behaviour.inputs):
        counts = "yes" if behaviour.in_verdict[place] else "no"
        row = {"Input": visible(item.text, 300), "From": SOURCES[item.source], "Counts": counts}
        if any(one.expected is not None for one in behaviour.inputs):
            row["Expected"] = "" if item.expected is None else visible(item.expected, 300)
        for number, group in enumerate(behaviour.groups[:GROUPS_SHOWN], start=1):
            row[f"Group {number} ({len(group.members)})"] = _given(behaviour, group, place)
        rows.append(row)
    return pd.DataFrame(rows)


def _given(behaviour: Behaviour, group: Group, place: int) -> str:
    """What a group gave: one result on what counts, and possibly several elsewhere, each with how many gave it."""
    trials = {trial.index: trial for trial in behaviour.trials}
    given = Counter(show_outcome(trials[member].outcomes[place]) for member in group.members)
    # Floats within the tolerance are written differently and are the same: the typical answer's stands for all.
    if len(given) == 1 or behaviour.in_verdict[place]:
        return visible(show_outcome(trials[group.typical].outcomes[place]), 300)
    return visible("; ".join(f"{text} ({count})" for text, count in given.most_common(5)), 300)


def answers_table(behaviour: Behaviour) -> pd.DataFrame:
    """A row for each answer: its group, or why it is in none, and how many of the expected results it meets."""
    group_of = {member: number for number, group in enumerate(behaviour.groups, start=1) for member in group.members}
    met = dict(behaviour.correctness.met) if behaviour.correctness else {}
    rows = []
    for trial in behaviour.trials:
        why = "" if trial.status is Status.RAN else STATUSES[trial.status][0]
        if trial.detail and trial.detail not in why:
            why = f"{why}: {trial.detail}" if why else trial.detail
        row = {"Answer": answer_name(trial.index), "Group": group_of.get(trial.index), "Did not run": visible(why, 200)}
        if behaviour.correctness:
            row["Expected results met"] = f"{met.get(trial.index, 0)} of {behaviour.correctness.expectations}"
        rows.append(row)
    return pd.DataFrame(rows).astype({"Group": "Int64"})


def counted_inputs(behaviour: Behaviour) -> int:
    """How many inputs the verdict stands on."""
    return sum(behaviour.in_verdict)


def tried_inputs(behaviour: Behaviour) -> int:
    """How many inputs were tried, without those that only explain."""
    return sum(item.source is not Source.SHRUNK for item in behaviour.inputs)
