"""The interpreter compiled to native code: once, then kept beside the pinned downloads.

A compiled module is native code that the process will run, so it is loaded only from a file that belongs to this user or
to the system's, that nobody else can write, and whose content has the digest that stands before it.
``python -m evaluator_core.behaviour.compiled`` makes it ahead, for a place where nothing can be written later.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import wasmtime
from filelock import FileLock

from evaluator_core.assets import PYTHON_WASI, compiled_dir, find_asset

_DIGEST_BYTES = 32


def load_module(wasm: Path, folder: Path) -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The engine and the module, from the cache in ``folder`` or compiled now, which takes seconds."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.max_wasm_stack = 2 << 20
    config.cranelift_nan_canonicalization = True
    engine = wasmtime.Engine(config)
    source = wasm.read_bytes()
    path = folder / f"{_key(source)}.module"
    if module := _kept(engine, path):
        return engine, module
    try:
        _make_private(folder)
        with FileLock(folder / f".{path.name}.lock"):
            if module := _kept(engine, path):  # another process has made it meanwhile
                return engine, module
            module = wasmtime.Module(engine, source)
            write_private(path, bytes(module.serialize()))
            return engine, module
    except OSError:  # a folder that cannot be used costs seconds at each start, nothing else
        return engine, wasmtime.Module(engine, source)


def _kept(engine: wasmtime.Engine, path: Path) -> wasmtime.Module | None:
    content = read_trusted(path)
    try:
        return wasmtime.Module.deserialize(engine, content) if content else None
    except wasmtime.WasmtimeError:  # made on a machine with another processor: the folder, or the image, has moved since
        return None


def read_trusted(path: Path) -> bytes | None:
    """The content of a file of ``write_private``; ``None`` when it is not there, others could have made it, or it is damaged."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _is_trusted(status):
            return None
        digest, content = file.read(_DIGEST_BYTES), file.read()
    return content if hashlib.sha256(content).digest() == digest else None


def write_private(path: Path, content: bytes) -> None:
    """Write the digest and the content to a file that only this user can read, whole or not at all."""
    descriptor, draft = tempfile.mkstemp(prefix=".draft-", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(content).digest())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(folder)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise PermissionError(folder)
    if not _is_trusted(status):
        folder.chmod(0o700)


def _is_trusted(status: os.stat_result) -> bool:
    """Whether only this user, or root, who could do anything anyway, can have written it."""
    if not hasattr(os, "getuid"):  # Windows keeps the user's cache folder to the user
        return True
    return status.st_uid in (os.getuid(), 0) and not stat.S_IMODE(status.st_mode) & 0o022


def _key(source: bytes) -> str:
    marks = (hashlib.sha256(source).hexdigest(), version("wasmtime"), sys.platform, platform.machine())
    return hashlib.sha256("|".join(marks).encode()).hexdigest()[:32]


if __name__ == "__main__":
    load_module(find_asset(PYTHON_WASI), compiled_dir())
