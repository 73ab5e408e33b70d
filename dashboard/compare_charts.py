"""Several runs side by side: functions from records to charts and tables. They draw nothing themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import CANVAS, INK, LABELS_UP_TO, PALETTE, PLAIN, SCALE, cell_labels, in_page_ink
from dashboard.uncertainty_view import show_interval, uncertainty_of
from dashboard.words import escape, visible
from evaluator_core.behaviour.showing import LABELS as BEHAVIOUR_LABELS
from evaluator_core.behaviour.showing import show_numbers
from evaluator_core.cross import Block
from evaluator_core.metrics import LABELS, pair_values
from evaluator_core.types import Run

LETTERS = "ABCDEF"
DRAWN = 100
"""Answers in a heatmap: beyond that a cell is smaller than a dot, and several such charts stall a browser."""

_DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4]]
_BINS = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """A run on the page, under the letter that all charts and tables call it by."""

    letter: str
    """``"A"`` for the first."""
    name: str
    """Its result file."""
    run: Run
    """What was asked, what came, and how it scored."""

    @property
    def label(self) -> str:
        """Letter and model, for legends."""
        return f"{self.letter} · {visible(self.run.model, 40)}"


def metric_bars(runs: Sequence[Chosen]) -> alt.LayerChart | alt.FacetChart:
    """The three metrics, a bar for each run, with its number. A metric that a run does not have is left out."""
    rows = [
        {"Metric": label, "letter": chosen.letter, "Run": chosen.label, "Percent": value, **_ends(chosen.run, field, value)}
        for chosen in runs
        for field, label in LABELS.items()
        if (value := getattr(chosen.run.score.metrics, field)) is not None
    ]
    frame = pd.DataFrame(rows, columns=["Metric", "letter", "Run", "Percent", "low", "high", "interval"])
    frame["text"] = [f"{letter}  {value:.1f}" for letter, value in zip(frame["letter"], frame["Percent"], strict=True)]
    names = alt.Axis(labelExpr="split(datum.label, ' ')", ticks=False)  # one word a line: room on a telephone
    base = alt.Chart(frame).encode(
        x=alt.X("Percent:Q", title="Percent", scale=alt.Scale(domain=[0, 118]), axis=alt.Axis(values=[0, 25, 50, 75, 100])),
        y=alt.Y("Metric:N", sort=list(LABELS.values()), title=None, axis=names),
        yOffset=alt.YOffset("letter:N"),
        tooltip=["Run:N", "Metric:N", alt.Tooltip("Percent:Q", format=".1f"), alt.Tooltip("interval:N", title="95 % interval")],
    )
    bars = base.mark_bar().encode(color=_colour(runs))
    whiskers = base.mark_rule(strokeWidth=2, color=INK, yOffset=4).encode(x=alt.X("low:Q"), x2="high:Q")
    values = base.mark_text(align="left", baseline="middle", dx=6, dy=4, fontSize=12, color=INK).encode(
        x=alt.X("high:Q"), text="text:N"
    )
    height = 80 + 20 * len(runs) + len(LABELS) * (20 + 20 * len(runs))
    return in_page_ink(alt.layer(bars, whiskers, values).properties(height=height))


def _ends(run: Run, field: str, value: float) -> dict[str, object]:
    """Where a metric's interval ends, or the number itself where there is none."""
    interval = uncertainty_of(run).intervals.get(field)
    if interval is None:
        return {"low": value, "high": value, "interval": "too few answers"}
    return {"low": interval.low, "high": interval.high, "interval": show_interval(interval)}


def distributions(runs: Sequence[Chosen]) -> alt.Chart:
    """Which share of its pairs has which similarity, a stepped line for each run: runs of any size can be held together."""
    rows = []
    for chosen in runs:
        pairs = pair_values(chosen.run.score.hybrid)
        counts, edges = np.histogram(pairs, bins=_BINS, range=(0.0, 1.0))
        shares = 100.0 * counts / max(1, len(pairs))
        # The last step needs an end as well as a beginning.
        for low, share in zip(edges.tolist(), [*shares.tolist(), float(shares[-1])], strict=True):
            span = f"{min(low, 1 - 1 / _BINS):.2f} to {min(low + 1 / _BINS, 1.0):.2f}"
            rows.append({"Run": chosen.label, "Similarity": low, "Share": share, "span": span})
    order = [chosen.label for chosen in runs]
    chart: alt.Chart = (
        alt.Chart(pd.DataFrame(rows, columns=["Run", "Similarity", "Share", "span"]))
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=alt.X("Similarity:Q", title="Similarity of a pair", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("Share:Q", title="Share of pairs, %", scale=alt.Scale(domainMin=0)),
            color=_colour(runs),
            strokeDash=alt.StrokeDash(
                "Run:N", sort=order, scale=alt.Scale(domain=order, range=_DASHES[: len(order)]), legend=None
            ),
            tooltip=["Run:N", alt.Tooltip("span:N", title="Similarity"), alt.Tooltip("Share:Q", format=".1f")],
        )
        .properties(height=320 + 20 * len(runs))
    )
    return in_page_ink(chart)


def cross_heatmap(block: Block, first: Chosen, second: Chosen, *, title: str) -> alt.LayerChart | alt.FacetChart:
    """Similarity of the answers of one run (down) to those of another (across), the first hundred of each."""
    down = [sample.index + 1 for sample in first.run.score.samples[:DRAWN]]
    across = [sample.index + 1 for sample in second.run.score.samples[:DRAWN]]
    frame = pd.DataFrame(
        {
            f"Answer of {first.letter}": np.repeat(np.array(down, dtype=np.int32), len(across)),
            f"Answer of {second.letter}": np.tile(np.array(across, dtype=np.int32), len(down)),
            "Similarity": block[:DRAWN, :DRAWN].ravel().round(3),
        }
    )
    axis = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, labelPadding=6, ticks=False, domain=False)
    base = alt.Chart(frame).encode(
        x=alt.X(
            f"Answer of {second.letter}:O",
            sort=None,
            scale=alt.Scale(domain=across),
            title=f"Answers of {second.letter}",
            axis=axis,
        ),
        y=alt.Y(
            f"Answer of {first.letter}:O", sort=None, scale=alt.Scale(domain=down), title=f"Answers of {first.letter}", axis=axis
        ),
    )
    large = max(len(down), len(across))
    cells = base.mark_rect(stroke=None if large > 40 else "rgba(128,128,128,0.35)", **PLAIN).encode(
        color=alt.Color("Similarity:Q", scale=SCALE, legend=alt.Legend(title=title, orient="bottom", gradientLength=240))
    )
    layers = [cells]
    if large <= LABELS_UP_TO:
        layers.append(cell_labels(base))
    return alt.layer(*layers).properties(height=150 + max(130, min(420, 36 * len(down))), usermeta=CANVAS)


def difference_table(runs: Sequence[Chosen]) -> pd.DataFrame:
    """The three metrics of each run and, under ``<metric>_difference``, how far each is from the first run's."""
    rows = []
    for chosen in runs:
        row: dict[str, object] = {
            "run": chosen.letter,
            "model": visible(chosen.run.model, 60),
            "time": f"{chosen.run.created_at:%Y-%m-%d %H:%M:%S}",
            "answers": len(chosen.run.score.samples),
        }
        for field in LABELS:
            value, reference = getattr(chosen.run.score.metrics, field), getattr(runs[0].run.score.metrics, field)
            row[field] = value
            known = chosen is not runs[0] and value is not None and reference is not None
            row[f"{field}_difference"] = round(value - reference, 1) + 0.0 if known else None
        rows.append(row)
    numbers = {column: float for field in LABELS for column in (field, f"{field}_difference")}
    return pd.DataFrame(rows).astype(numbers)


def behaviour_html(runs: Sequence[Chosen]) -> str:
    """What the answers of each run do, a column for each, as a table for ``st.html``; dashes where they were not run."""
    rows: dict[str, list[str]] = {label: [] for label in (*BEHAVIOUR_LABELS.values(), "Expected results")}
    for chosen in runs:
        found = chosen.run.behaviour
        texts = [number.text for number in show_numbers(found)] if found else ["–"] * len(BEHAVIOUR_LABELS)
        texts.append(f"{found.correctness.pass_percent:.1f} % meet them" if found and found.correctness else "–")
        for cells, text in zip(rows.values(), texts, strict=True):
            cells.append(text)
    lines = [
        f'<tr><th scope="row">{label}</th>{"".join(f"<td>{escape(text)}</td>" for text in texts)}</tr>'
        for label, texts in rows.items()
    ]
    return _table_html("What the answers of each run do", ["", *(chosen.letter for chosen in runs)], lines)


def settings_table(runs: Sequence[Chosen]) -> pd.DataFrame:
    """How each run was made, a row for each setting; ``Differs`` says in a word whether the runs do."""
    rows = []
    settings = [_settings(chosen.run) for chosen in runs]
    for name in settings[0]:
        values = [setting[name] for setting in settings]
        differs = any(value != values[0] for value in values)
        row = {"Differs": "yes" if differs else "no", "Setting": name}
        rows.append(row | {chosen.letter: _shown(value) for chosen, value in zip(runs, values, strict=True)})
    return pd.DataFrame(rows)


def settings_html(table: pd.DataFrame) -> str:
    """The table for ``st.html``: settings that differ come first, in colour and in words; long ones scroll."""
    letters = [column for column in table.columns if column not in ("Differs", "Setting")]
    lines = []
    for row in table.sort_values("Differs", ascending=False, kind="stable").to_dict("records"):
        differs = row["Differs"] == "yes"
        cells = "".join(f"<td><div>{escape(row[letter])}</div></td>" for letter in letters)
        name = f'<th scope="row">{escape(row["Setting"])}{" <small>differs</small>" if differs else ""}</th>'
        lines.append(f'<tr class="{"differs" if differs else "same"}">{name}{cells}</tr>')
    return _table_html("Settings of each run", ["Setting", *letters], lines)


def _table_html(label: str, heads: Sequence[str], lines: Sequence[str]) -> str:
    """A table that scrolls by itself where it is too wide; ``lines`` are its rows, escaped already."""
    written = "".join(f'<th scope="col">{escape(head)}</th>' if head else "<td></td>" for head in heads)
    return (
        f'<div class="scrolls" role="region" tabindex="0" aria-label="{label}">'
        f'<table class="settings"><thead><tr>{written}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def _settings(run: Run) -> dict[str, object]:
    return {
        "Model": run.model,
        "Endpoint": run.endpoint,
        "Language": run.score.language,
        "Answers wanted": run.settings.n_requested,
        "Answers scored": len(run.score.samples),
        "Temperature": run.settings.temperature,
        "Max tokens": run.settings.max_tokens,
        "Seed": run.settings.seed,
        "Threshold": run.score.threshold,
        "System prompt": run.settings.system_prompt or None,
        "Prompt": run.question,
    }


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else visible(str(value))


def _colour(runs: Sequence[Chosen]) -> alt.Color:
    order = [chosen.label for chosen in runs]
    key = alt.Legend(orient="bottom", columns=1, title=None, labelLimit=220)
    return alt.Color("Run:N", sort=order, scale=alt.Scale(domain=order, range=list(PALETTE[: len(order)])), legend=key)
