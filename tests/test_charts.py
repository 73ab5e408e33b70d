"""Charts as the browser gets them: the right fields, scales and data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import charts
from dashboard.compare_charts import (
    DRAWN,
    Chosen,
    cross_heatmap,
    difference_table,
    distributions,
    metric_bars,
    settings_html,
    settings_table,
)
from evaluator_core.metrics import LABELS, pair_values
from tests.runs import ALIKE, BUILTIN, LOOP, make_run

MATRIX = np.array([[1.0, 0.25, 0.87654], [0.25, 1.0, 0.5], [0.87654, 0.5, 1.0]])


def rows(spec: dict[str, Any], layer: int = 0) -> list[dict[str, Any]]:
    """The data that a layer is drawn from."""
    data = spec["layer"][layer].get("data", spec.get("data")) if "layer" in spec else spec["data"]
    found: list[dict[str, Any]] = spec["datasets"][data["name"]]
    return found


def two_runs() -> list[Chosen]:
    first = make_run([LOOP, BUILTIN, ALIKE], model="one")
    return [Chosen("A", "a.json", first), Chosen("B", "b.json", make_run([BUILTIN, ALIKE], model="two", threshold=0.5))]


def test_the_heatmap_holds_every_pair_in_the_order_given() -> None:
    spec = charts.heatmap(MATRIX, [0, 3, 7], [2, 0, 1], title="Hybrid similarity").to_dict()
    cells = {(row["First"], row["Second"]): row["Similarity"] for row in rows(spec)}
    assert len(cells) == len(rows(spec)) == 9
    assert cells[1, 8] == cells[8, 1] == 0.877
    assert cells[4, 1] == 0.25
    encoding = spec["layer"][0]["encoding"]
    assert encoding["x"]["scale"]["domain"] == encoding["y"]["scale"]["domain"] == [8, 1, 4]
    assert (encoding["x"]["field"], encoding["y"]["field"]) == ("Second", "First")
    assert encoding["color"]["scale"] == {"domain": [0, 1], "scheme": "cividis"}
    assert encoding["color"]["legend"]["title"] == "Hybrid similarity"


def test_a_heatmap_leaves_room_for_answers_to_come() -> None:
    alone = charts.heatmap(np.zeros((0, 0)), [], [], title="", room=range(4)).to_dict()
    some = charts.heatmap(MATRIX, [0, 1, 3], range(3), title="", room=range(4)).to_dict()
    assert alone["height"] == some["height"] == charts.heatmap(np.eye(4), range(4), range(4), title="").to_dict()["height"]
    for spec in (alone, some):
        assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [1, 2, 3, 4]
    assert {row["First"] for row in rows(some)} == {1, 2, 4}


@pytest.mark.parametrize("selectable", [True, False])
def test_a_heatmap_answers_to_clicks_only_where_it_is_asked_to(selectable: bool) -> None:
    spec = charts.heatmap(MATRIX, [0, 1, 2], [0, 1, 2], title="", selectable=selectable).to_dict()
    names = [(param["name"], param["select"]["fields"]) for param in spec.get("params", [])]
    assert names == ([("pair", ["First", "Second"])] if selectable else [])


@pytest.mark.parametrize("size", [charts.LABELS_UP_TO, charts.LABELS_UP_TO + 1])
def test_cells_are_labelled_while_there_are_few(size: int) -> None:
    spec = charts.heatmap(np.eye(size), range(size), range(size), title="").to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "text"][: 1 + (size <= charts.LABELS_UP_TO)]


def test_the_distribution_counts_every_pair_once_and_marks_the_threshold() -> None:
    spec = charts.distribution(MATRIX, 0.7).to_dict()
    counted = {round(row["from"], 2): row["Pairs"] for row in rows(spec) if row["Pairs"]}
    assert counted == {0.25: 1, 0.5: 1, 0.85: 1}
    assert rows(spec, 1) == [{"Threshold": 0.7}]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]


def test_the_curve_falls_from_all_pairs_to_none() -> None:
    spec = charts.agreement_over_thresholds(MATRIX, 0.6).to_dict()
    curve = {round(row["Threshold"], 2): row["Agreement"] for row in rows(spec)}
    assert (curve[0.0], curve[0.25], curve[1.0]) == (100.0, 100.0, 0.0)
    assert curve[0.6] == pytest.approx(100 / 3)
    assert rows(spec, 1) == [{"Threshold": 0.6}]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 100]


def test_a_trend_draws_dated_runs_and_names_the_one_clicked() -> None:
    frame = pd.DataFrame(
        {
            "time": [pd.Timestamp("2025-09-18 11:20:03"), pd.NaT],
            "series": ["m · p", "m · q"],
            "name": ["eval_1.json", "eval_2.json"],
            "n_samples": [5, 5],
            "confidence_percent": [77.3, 10.0],
        }
    )
    spec = charts.trend(frame, "confidence_percent", "Confidence", {"m · p": "#111111", "m · q": "#222222"}).to_dict()
    assert [(row["name"], row["confidence_percent"]) for row in rows(spec)] == [("eval_1.json", 77.3)]
    for layer in spec["layer"]:
        assert layer["encoding"]["y"]["field"] == "confidence_percent"
        low, high = layer["encoding"]["y"]["scale"]["domain"]
        assert low < 0  # a point at either end is shown whole
        assert high > 100
        assert layer["encoding"]["color"]["legend"] is None
        assert layer["encoding"]["color"]["scale"] == {"domain": ["m · p", "m · q"], "range": ["#111111", "#222222"]}
    selects = {param["name"]: param["select"] for param in spec["params"]}
    assert selects["run"]["fields"] == ["name"]
    assert selects["zoom"]["encodings"] == ["x"]


def test_a_trend_marks_intervals_and_changes() -> None:
    times = pd.date_range("2025-09-18", periods=3)
    frame = pd.DataFrame(
        {
            "time": times,
            "series": "m · p",
            "name": ["eval_1.json", "eval_2.json", "eval_3.json"],
            "n_samples": 5,
            "confidence_percent": [77.3, 70.0, 20.0],
            "low": [60.0, np.nan, 10.0],
            "high": [90.0, np.nan, 31.5],
        }
    )
    spec = charts.trend(frame, "confidence_percent", "Confidence", {"m · p": "#111111"}, {"m · p": times[2]}).to_dict()
    rules = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    assert [layer["encoding"]["y2"]["field"] for layer in rules if "y2" in layer["encoding"]] == ["high"]
    drawn = [spec["datasets"][layer["data"]["name"]] for layer in rules]
    assert [[row.get("interval") for row in rows] for rows in drawn] == [["60.0 to 90.0", "10.0 to 31.5"], [None]]
    assert drawn[1][0]["time"].startswith("2025-09-20")


def test_the_bars_are_the_metrics_of_each_run() -> None:
    runs = two_runs()
    spec = metric_bars(runs).to_dict()
    drawn = {(row["letter"], row["Metric"]): row["Percent"] for row in rows(spec)}
    assert drawn == {
        (run.letter, label): getattr(run.run.score.metrics, field) for run in runs for field, label in LABELS.items()
    }
    assert spec["layer"][1]["mark"]["color"] == "currentColor"  # readable in either theme
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["A · one", "B · two"]


def test_a_run_without_numbers_has_no_bars() -> None:
    spec = metric_bars([two_runs()[0], Chosen("B", "b.json", make_run([LOOP]))]).to_dict()
    assert {row["letter"] for row in rows(spec)} == {"A"}


def test_the_shares_of_each_run_sum_to_a_hundred() -> None:
    drawn = pd.DataFrame(rows(distributions(two_runs()).to_dict()))
    for _, line in drawn.groupby("Run"):
        assert line["Share"].iloc[:-1].sum() == pytest.approx(100.0)
        assert line["Similarity"].tolist() == pytest.approx([step / 20 for step in range(21)])
    pairs = pair_values(two_runs()[0].run.score.hybrid)
    top = drawn[(drawn["Run"] == "A · one") & (drawn["Similarity"] > 0.94)]["Share"].iloc[0]
    assert top == pytest.approx(100 * np.mean(pairs >= 0.95))


def test_the_cross_heatmap_has_the_first_run_down_and_the_second_across() -> None:
    first, second = two_runs()
    block = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.61239]])
    spec = cross_heatmap(block, first, second, title="Text similarity").to_dict()
    cells = {(row["Answer of A"], row["Answer of B"]): row["Similarity"] for row in rows(spec)}
    assert cells == {(1, 1): 0.1, (1, 2): 0.2, (2, 1): 0.3, (2, 2): 0.4, (3, 1): 0.5, (3, 2): 0.612}
    encoding = spec["layer"][0]["encoding"]
    assert (encoding["y"]["field"], encoding["x"]["field"]) == ("Answer of A", "Answer of B")
    assert encoding["y"]["scale"]["domain"] == [1, 2, 3]
    assert encoding["color"]["scale"]["domain"] == [0, 1]


def test_a_large_cross_heatmap_draws_the_first_hundred() -> None:
    many = Chosen("A", "a.json", make_run([f"```python\nx = {number}\n```" for number in range(DRAWN + 5)]))
    spec = cross_heatmap(np.ones((DRAWN + 5, 2)), many, two_runs()[1], title="").to_dict()
    assert {row["Answer of A"] for row in rows(spec)} == set(range(1, DRAWN + 1))


def test_differences_are_against_the_first_run() -> None:
    runs = two_runs()
    table = difference_table(runs).set_index("run")
    first, second = (run.run.score.metrics for run in runs)
    assert first.confidence_percent is not None
    assert second.confidence_percent is not None
    assert table["confidence_percent"].tolist() == [first.confidence_percent, second.confidence_percent]
    assert np.isnan(table["confidence_percent_difference"]["A"])
    expected = round(second.confidence_percent - first.confidence_percent, 1)
    assert expected != 0
    assert table["confidence_percent_difference"]["B"] == expected


def test_settings_that_differ_are_told() -> None:
    table = settings_table(two_runs()).set_index("Setting")
    assert table["Differs"][["Model", "Threshold", "Endpoint", "Prompt"]].tolist() == ["yes", "yes", "no", "no"]
    assert table["B"]["Threshold"] == "0.5"


def test_settings_that_differ_come_first_and_are_marked_in_words() -> None:
    runs = [Chosen("A", "a.json", make_run(model="<b>one</b>")), Chosen("B", "b.json", make_run(model="two"))]
    found = re.findall(
        r'<tr class="(\w+)"><th scope="row">([\w ]+)( <small>differs</small>)?</th>', settings_html(settings_table(runs))
    )
    assert [(kind, bool(mark)) for kind, _, mark in found] == [("differs", True)] + [("same", False)] * 10
    assert found[0][1].strip() == "Model"
    assert "<b>" not in settings_html(settings_table(runs))
