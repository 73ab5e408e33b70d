"""Files that grow line by line and may be cut short by a crash at any byte."""

from __future__ import annotations

import os
from pathlib import Path


def append_line(path: Path, line: bytes, *, header: bytes = b"", durable: bool = False) -> None:
    """Add a line in one write, with the header before it in a new file; what a crash cut short keeps a line of its own.

    When this returns, the line survives the process; with ``durable``, it survives the machine too.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
    try:
        size = os.lseek(file, 0, os.SEEK_END)
        if size == 0:
            line = header + line
        else:
            os.lseek(file, -1, os.SEEK_END)
            if os.read(file, 1) != b"\n":
                line = b"\n" + line
        try:
            while line:
                line = line[os.write(file, line) :]
            if durable:
                os.fsync(file)
        except OSError:
            os.ftruncate(file, size)  # a full disk leaves no half of a line
            raise
    finally:
        os.close(file)
