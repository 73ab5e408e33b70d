"""What the pages show of behaviour in tables, which a browser draws on a canvas: the same scripts, read without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.behaviour_charts import answers_table, inputs_table
from dashboard.safety_view import capability_table
from evaluator_core.behaviour.in_run import add_behaviour
from evaluator_core.capabilities import profile
from evaluator_core.store import Store
from evaluator_core.types import Run
from tests.runs import make_run
from tests.served import ROOT

CODES = [
    "def f(x):\n    return x + 1",
    "def f(x):\n    return x + 1 if x >= 0 else x - 1",
    "def f(y):\n    return 1 + y",
    "def f(x):\n    return x +",
    "def f(x):\n    return eval('x + 1')",
]


@pytest.fixture(scope="module")
def run() -> Run:
    return add_behaviour(make_run(CODES, question="Write f(x)."), calls=["f(1) == 2", "f(-2) == -1"])


def test_every_input_has_a_row_and_every_group_a_column(run: Run) -> None:
    table = inputs_table(run.behaviour) if run.behaviour else None
    assert table is not None
    assert list(table.columns) == ["Input", "From", "Counts", "Expected", "Group 1 (3)", "Group 2 (1)"]
    assert table.iloc[1].tolist() == ["f(-2)", "you", "yes", "-1", "-1", "-3"]


def test_every_answer_has_its_group_or_the_reason_why_not(run: Run) -> None:
    assert run.behaviour is not None
    table = answers_table(run.behaviour)
    assert table["Group"].astype(object).where(table["Group"].notna(), None).tolist() == [1, 2, 1, None, 1]
    assert table["Did not run"][3] == "does not load: SyntaxError"
    assert table["Expected results met"].tolist() == ["2 of 2", "1 of 2", "2 of 2", "0 of 2", "2 of 2"]


def test_answers_that_reach_for_nothing_are_not_in_the_table(run: Run) -> None:
    found = profile(CODES, "python")
    assert found is not None
    assert capability_table(run, found).to_dict("records") == [{"Answer": "Answer 5", "Text as code": "line 2: eval('x + 1')"}]


def test_the_history_tells_behaviour_of_the_runs_that_have_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_RESULTS_DIR", str(tmp_path))
    Store(tmp_path).save(make_run(CODES, question="Not run."))
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run().switch_page("pages/history.py").run()
    assert not page.exception
    assert "behaviour_agreement_percent" not in page.dataframe[0].value.columns
    Store(tmp_path).save(run)
    page.run()
    values = page.dataframe[0].value.set_index("question")["behaviour_agreement_percent"]
    assert values["Write f(x)."] == 30.0
    assert values.isna()["Not run."]
