"""Ending a run of answers from another thread: whoever asked for it has gone, or the program ends."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Halted(Exception):
    """The run was ended before its time. What its answers do is not known."""


class Halt:
    """A switch for one run. It can be thrown once, at any time, also before or after the run."""

    def __init__(self) -> None:
        """Nothing is to be ended yet."""
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[str]] = set()
        self._called = False

    def call(self) -> None:
        """End the run now, with the processes in which its answers run."""
        with self._lock:
            self._called = True
            for child in self._children:
                child.kill()

    def check(self) -> None:
        """Raise ``Halted`` once the switch is thrown."""
        if self._called:
            raise Halted

    @contextmanager
    def ends(self, child: subprocess.Popen[str]) -> Iterator[None]:
        """For as long as a child works for the run, the switch ends it; then its answer counts no more."""
        with self._lock:
            self._children.add(child)
            if self._called:
                child.kill()
        try:
            yield
        finally:
            with self._lock:
                self._children.remove(child)
        self.check()
