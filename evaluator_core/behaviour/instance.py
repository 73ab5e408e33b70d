"""One answer in one WebAssembly instance: what it may reach, how long it may take, and what it said.

The guest gets no folder, no environment, no network, a clock that stands still and random numbers that repeat. It ends
when a call takes too long, when it wants too much memory, or when it writes too much.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime

CALL_SECONDS = 1.0
"""Processor time for one call."""
LOAD_SECONDS = 3.0
"""Processor time for the start of the interpreter and the loading of the answer."""
WALL_FACTOR = 10.0
"""A call that gets no processor time at all ends after so many times its limit."""
MEMORY_BYTES = 256 << 20
MAX_DEATHS = 3
"""So many calls may end their instance; those after them are not tried."""

_GUEST = Path(__file__).with_name("guest.py").read_text(encoding="utf-8")
_MAX_OUTPUT = 1 << 20
_MAX_FRAME = 1 << 18
_TICK_SECONDS = 0.01
_MODULE = "wasi_snapshot_preview1"
_SUCCESS, _INVALID, _IO = 0, 28, 29
_CLOCK_NANOSECONDS = 1_700_000_000_000_000_000
_OUTCOMES = frozenset({"value", "raised", "memory", "exited", "too_large", "unsupported"})

Outcome = list[str]
"""The kind and the canonical text of one call's result."""


class _State:
    """What the host knows about the instance that is running."""

    def __init__(self, job: bytes, nonce: bytes) -> None:
        self.job, self.position, self.nonce = job, 0, nonce
        self.frames: list[tuple[int, str, str]] = []
        self.output = self.framed = 0
        self.flooded = self.late = False
        self.seed = 0x2545F491
        self.begin(LOAD_SECONDS)

    def begin(self, seconds: float) -> None:
        self.processor_limit = time.process_time() + seconds
        self.wall_limit = time.monotonic() + seconds * WALL_FACTOR


class Runner:
    """Runs answers one after the other, each in a fresh instance of the compiled interpreter."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        """The watchdog starts now and lives as long as the process."""
        self._engine = engine
        self._lock = threading.Lock()
        self._state: _State | None = None
        self._busy = threading.Event()
        linker = wasmtime.Linker(engine)
        linker.allow_shadowing = True
        linker.define_wasi()
        self._define_host(linker)
        self._linker, self._module = linker, module
        threading.Thread(target=self._watch, daemon=True).start()

    def run(self, code: str, calls: list[dict[str, Any]], program: bool) -> dict[str, Any]:
        """The answer's ``load`` outcome, and one outcome for each call, in their order."""
        outcomes: list[Outcome | None] = [None] * len(calls)
        load: Outcome | None = None
        waiting, deaths = list(range(len(calls))), 0
        while True:
            state, ended = self._instance(code, [{**calls[place], "place": place} for place in waiting], program)
            begun = -1
            for place, kind, text in state.frames:
                if place == -1 and load is None and kind != "begun":
                    load = [kind, text]
                elif kind == "begun" and place in waiting:
                    begun = place
                elif place == begun and kind in _OUTCOMES and outcomes[place] is None:
                    outcomes[place] = [kind, text]
            if load is None:
                load = [ended if state.frames else "crashed", "null"]
            if load[0] != "loaded":
                return {"load": load, "outcomes": [["skipped", "null"]] * len(calls)}
            waiting = [place for place in waiting if outcomes[place] is None]
            if not waiting:
                break
            deaths += 1
            # The call that was under way is to blame; when none was, the first that has no result is.
            blamed = begun if begun in waiting else waiting[0]
            outcomes[blamed] = [ended, "null"]
            waiting.remove(blamed)
            if not waiting:
                break
            if deaths >= MAX_DEATHS:
                break
        return {"load": load, "outcomes": [outcome or ["skipped", "null"] for outcome in outcomes]}

    def _instance(self, code: str, calls: list[dict[str, Any]], program: bool) -> tuple[_State, str]:
        nonce = secrets.token_hex(16)
        job = repr({"nonce": nonce, "code": code, "calls": calls, "program": program})
        store = wasmtime.Store(self._engine)
        state = _State(job.encode("utf-8", "backslashreplace"), nonce.encode() + b" ")
        store.set_limits(memory_size=MEMORY_BYTES, instances=1, memories=1)
        wasi = wasmtime.WasiConfig()
        wasi.argv = ["python", "-s", "-S", "-P", "-B", "-c", _GUEST]
        wasi.env = [("PYTHONHASHSEED", "0")]
        store.set_wasi(wasi)
        store.set_epoch_deadline(1)
        ended = "crashed"
        with self._lock:
            self._state = state
        self._busy.set()
        try:
            start = self._linker.instantiate(store, self._module).exports(store)["_start"]
            assert isinstance(start, wasmtime.Func)
            start(store)
        except wasmtime.ExitTrap:
            ended = "exited"
        except (wasmtime.Trap, wasmtime.WasmtimeError):
            ended = "too_large" if state.flooded else "timeout" if state.late else "crashed"
        finally:
            self._busy.clear()
            with self._lock:
                self._state = None
            store.close()
        return state, ended

    def _watch(self) -> None:
        while self._busy.wait():
            with self._lock:
                state = self._state
                if state is not None and not state.late:
                    late = time.process_time() > state.processor_limit or time.monotonic() > state.wall_limit
                    if late or state.flooded:
                        state.late = True
                        self._engine.increment_epoch()
            time.sleep(_TICK_SECONDS)

    def _define_host(self, linker: wasmtime.Linker) -> None:
        small, large = wasmtime.ValType.i32(), wasmtime.ValType.i64()

        def define(name: str, parameters: list[wasmtime.ValType], body: Callable[..., int]) -> None:
            def guarded(*values: Any) -> int:
                try:
                    return body(*values)
                except Exception:  # an exception must not cross the native frames
                    return _INVALID

            linker.define_func(_MODULE, name, wasmtime.FuncType(parameters, [small]), guarded, access_caller=True)

        define("fd_write", [small] * 4, self._fd_write)
        define("fd_read", [small] * 4, self._fd_read)
        define("clock_time_get", [small, large, small], self._clock)
        define("random_get", [small, small], self._random)
        define("poll_oneoff", [small] * 4, self._poll)

    def _fd_write(self, caller: wasmtime.Caller, fd: int, vectors: int, count: int, written: int) -> int:
        state, memory = self._running(), _memory(caller)
        spans = _spans(caller, memory, vectors, count)
        total = sum(length for _, length in spans)
        if fd == 1 and len(spans) == 1 and len(state.nonce) < total <= _MAX_FRAME:
            start, length = spans[0]
            if memory.read(caller, start, start + len(state.nonce)) == state.nonce:
                state.framed += total
                if state.framed > 16 * _MAX_OUTPUT:
                    return _IO
                self._take_frame(state, bytes(memory.read(caller, start, start + length)))
                _store(caller, memory, written, total)
                return _SUCCESS
        state.output += total
        if state.output > _MAX_OUTPUT:
            state.flooded = True
            return _IO
        _store(caller, memory, written, total)
        return _SUCCESS

    def _take_frame(self, state: _State, data: bytes) -> None:
        _, place, kind, text = data.decode("ascii").split(" ", 3)
        if kind == "begun" or kind == "loaded":
            state.begin(CALL_SECONDS)
        state.frames.append((int(place), kind, text))

    def _fd_read(self, caller: wasmtime.Caller, fd: int, vectors: int, count: int, read: int) -> int:
        state, memory, total = self._running(), _memory(caller), 0
        if fd == 0:
            for start, length in _spans(caller, memory, vectors, count):
                part = state.job[state.position : state.position + length]
                if part:
                    memory.write(caller, part, start)
                state.position += len(part)
                total += len(part)
        _store(caller, memory, read, total)
        return _SUCCESS

    def _clock(self, caller: wasmtime.Caller, clock: int, precision: int, result: int) -> int:
        _memory(caller).write(caller, _CLOCK_NANOSECONDS.to_bytes(8, "little"), result)
        return _SUCCESS

    def _random(self, caller: wasmtime.Caller, start: int, length: int) -> int:
        state, values = self._running(), bytearray()
        while len(values) < min(length, _MAX_OUTPUT):
            state.seed = (state.seed * 6364136223846793005 + 1442695040888963407) % 2**64
            values += (state.seed >> 32).to_bytes(4, "little")
        if length:
            _memory(caller).write(caller, values[:length], start)
        return _SUCCESS

    def _poll(self, caller: wasmtime.Caller, events: int, results: int, count: int, happened: int) -> int:
        """Every wait is over at once: a sleep in the guest could not be interrupted."""
        memory = _memory(caller)
        for place in range(min(count, 64)):
            identity = memory.read(caller, events + 48 * place, events + 48 * place + 8)
            memory.write(caller, identity + bytearray(24), results + 32 * place)
        _store(caller, memory, happened, min(count, 64))
        return _SUCCESS

    def _running(self) -> _State:
        assert self._state is not None
        return self._state


def _memory(caller: wasmtime.Caller) -> wasmtime.Memory:
    memory = caller["memory"]
    assert isinstance(memory, wasmtime.Memory)
    return memory


def _spans(caller: wasmtime.Caller, memory: wasmtime.Memory, vectors: int, count: int) -> list[tuple[int, int]]:
    table = bytes(memory.read(caller, vectors, vectors + 8 * min(count, 1024)))
    numbers = [int.from_bytes(table[at : at + 4], "little") for at in range(0, len(table), 4)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _store(caller: wasmtime.Caller, memory: wasmtime.Memory, place: int, number: int) -> None:
    memory.write(caller, number.to_bytes(4, "little"), place)
