"""How much of the machine is ours, also where a container grants less than there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluator_core import machine
from evaluator_core.machine import granted_cores, usable_cores


@pytest.mark.parametrize(
    ("content", "share"),
    [("150000 100000\n", 1.5), ("50000 100000\n", 0.5), ("max 100000\n", None), ("", None), ("0 0", None), ("much", None)],
)
def test_the_share_of_a_container(content: str, share: float | None, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(content)
    assert granted_cores(tmp_path) == share


@pytest.mark.parametrize(("quota", "share"), [("200000\n", 2.0), ("-1\n", None)])
def test_the_share_in_the_older_form(quota: str, share: float | None, tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert granted_cores(tmp_path) == share


def test_without_control_groups_every_core_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_CONTROL_GROUP", tmp_path)
    assert usable_cores() == len(os.sched_getaffinity(0))


def test_half_a_core_is_still_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000")
    monkeypatch.setattr(machine, "_CONTROL_GROUP", tmp_path)
    assert usable_cores() == 1
