"""Behaviour: what the answers do when they are run on the same inputs, in a sandbox.

    codes ─▶ inputs ─▶ sandbox ─▶ clusters ─▶ numbers
             calls     outcomes   groups      agreement, entropy, consensus, correctness, witnesses

    inputs       the user's calls, the prompt's examples, and values made from types (``examples``, ``generate``, ``words``)
    sandbox      worker processes (``worker``), each with CPython for WASI under wasmtime (``compiled``, ``instance``, ``guest``);
                 ``halt`` ends it at any time
    clusters     who gave the same, and the smallest input on which two part (``shrink``)
    correctness  expected results, compared outside of the sandbox, and pass@k

``run_behaviour()`` in ``flow`` is all of it.
"""

from evaluator_core.behaviour.behaviour_json import from_json, to_json
from evaluator_core.behaviour.clusters import behaves_alike, find_witness
from evaluator_core.behaviour.flow import run_behaviour
from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.records import Behaviour

__all__ = ["Behaviour", "Halt", "Halted", "behaves_alike", "find_witness", "from_json", "run_behaviour", "to_json"]
