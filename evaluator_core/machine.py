"""What the machine grants this process."""

from __future__ import annotations

import os
from pathlib import Path

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """How many cores can be kept busy: those that this process may run on, within the share that its container has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    granted = granted_cores(_CONTROL_GROUP)
    return cores if granted is None else max(1, min(cores, int(granted)))


def granted_cores(folder: Path) -> float | None:
    """The share of the machine that a control group grants, in cores; ``None`` when it sets no limit or there is none."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:  # the older form
            quota, period = ((folder / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        share = float(quota) / float(period)
    except (OSError, ValueError, ZeroDivisionError):  # "max", and systems without control groups
        return None
    return share if share > 0 else None
