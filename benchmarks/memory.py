"""How much memory a process of its own takes to score N functions: ``python -m benchmarks.memory real 1000``."""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generated import generated_functions
from benchmarks.real_outputs import real_functions
from evaluator_core import score

_ROOT = Path(__file__).parent.parent
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Memory:
    """What a fresh process took, in megabytes (10⁶ bytes)."""

    peak: float
    """The most it ever had resident, the interpreter and all libraries included."""
    growth: float
    """How much of it came with the scoring."""


def measure_memory(source: str, count: int) -> Memory:
    """Score that many functions once in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", source, str(count)]
    printed = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout
    before, after = map(float, printed.split())
    return Memory(peak=after, growth=after - before)


def functions_of(source: str, count: int) -> list[str] | None:
    """Functions from ``"real"`` or ``"generated"``; ``None`` when there are not enough of them."""
    return real_functions(count) if source == "real" else generated_functions(count)


def peak_megabytes() -> float:
    """The most that this process ever had resident."""
    # On Linux ru_maxrss begins with what the parent had at the time of exec; VmHWM is the process's own.
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _main(source: str, count: int) -> None:
    functions = functions_of(source, count) or []
    score(functions[:2])  # loads the grammar
    before = peak_megabytes()
    score(functions)
    print(before, peak_megabytes())


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
