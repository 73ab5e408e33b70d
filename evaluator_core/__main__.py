"""``python -m evaluator_core``: ask a model, score answers one has, or go on with a run, from the terminal."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

from evaluator_core.answers import parse_answers
from evaluator_core.behaviour import Behaviour
from evaluator_core.endpoints import endpoints, list_models
from evaluator_core.errors import EvaluatorError, InvalidInput, NotEnoughSamples, RunCancelled
from evaluator_core.evaluation import evaluate_plan, extend_run, resume_run, run_here
from evaluator_core.languages import AUTO, LANGUAGES
from evaluator_core.metrics import read
from evaluator_core.plan import FIELDS, plan_from_payload
from evaluator_core.scoring import score
from evaluator_core.settings import results_dir
from evaluator_core.statistics import uncertainty
from evaluator_core.store import Store
from evaluator_core.terminal import ProgressLine, printable, summary_text
from evaluator_core.types import DEFAULT_THRESHOLD, Run, RunSettings, Score


class Exit(IntEnum):
    """How the command ends, for scripts."""

    DONE = 0
    """The numbers are there."""
    FAILED = 1
    """The model could not be asked, or a file not be written; the message says what to do."""
    BAD_INPUT = 2
    """A flag or a file cannot be used."""
    NO_NUMBERS = 3
    """Fewer than two answers: nothing to compare."""
    CANCELLED = 130
    """Ended from the keyboard; what arrived is kept."""


_MOST_UNTIL = 50
_FLAGS_OF_ASKING = ("behaviour", "endpoint", "n_samples", "temperature", "max_tokens", "system_prompt", "seed", "concurrency")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the numbers
    try:
        return _run(_parser().parse_args(arguments))
    except InvalidInput as error:
        code, message = Exit.BAD_INPUT, str(error)
    except NotEnoughSamples as error:
        code, message = Exit.NO_NUMBERS, str(error)
    except RunCancelled as error:
        code, message = Exit.CANCELLED, str(error)
    except EvaluatorError as error:
        code, message = Exit.FAILED, str(error)
    except KeyboardInterrupt:
        code, message = Exit.CANCELLED, "cancelled"
    print(f"error: {printable(message, 2000)}", file=sys.stderr)
    return code


def _run(options: argparse.Namespace) -> int:
    chosen = [name for name in ("payload", "outputs", "resume", "extend", "list_models") if getattr(options, name) is not None]
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} do not go together: give one of them")
    if options.as_is and options.resume is None:
        raise InvalidInput("--as-is goes with --resume")
    if options.until is not None and options.extend is None:
        raise InvalidInput("--until goes with --extend")
    if options.list_models is not None:
        return _list_models(options.list_models)
    if options.outputs is not None:
        return _score_answers(options)
    return _evaluate(options)


def _evaluate(options: argparse.Namespace) -> int:
    values = {name: value for name in FIELDS if (value := getattr(options, name)) is not None}
    store = Store.open(results_dir())
    with ProgressLine(sys.stderr) as progress:
        if options.resume is not None:
            _only(values, "--resume")
            run_id = options.resume or _latest_interrupted(store)
            flow = resume_run(run_id, store, ask_missing=not options.as_is, on_progress=progress.show)
        elif options.extend is not None:
            more = values.pop("n_samples", 5 if options.until is None else _MOST_UNTIL)
            _only(values, "--extend")
            name = Path(options.extend).name
            flow = extend_run(name, store, more=more, points=options.until, on_progress=progress.show)
        else:
            if options.payload is None and "prompt" not in values:
                raise InvalidInput("give a payload file or --prompt; --help shows everything")
            body = _read_json(options.payload) if options.payload is not None else {}
            plan = plan_from_payload(body | values if isinstance(body, dict) else body)
            flow = evaluate_plan(plan, store, on_progress=progress.show)
        evaluation = run_here(flow)
    run = evaluation.run
    _print(options, run.score, run.model, run.question, evaluation.saved_file, run.behaviour)
    return Exit.DONE


def _only(values: Iterable[str], flag: str) -> None:
    if names := ", ".join(values):
        raise InvalidInput(f"{flag} goes on as the run was begun; leave out {names}")


def _latest_interrupted(store: Store) -> str:
    interrupted = store.interrupted()
    if not interrupted:
        raise InvalidInput("--resume: there is no interrupted run")
    return interrupted[-1]


def _list_models(name: str) -> int:
    known = endpoints()
    if name and name not in known:
        raise InvalidInput(f"--list-models: there is no endpoint {name!r}; there are {', '.join(known)}")
    if not name:
        for endpoint in known.values():
            print(f"{endpoint.name:<12} {printable(endpoint.about, 200)}")
        return Exit.DONE
    for model in list_models(known[name]):
        print(f"{name}/{printable(model, 200)}")
    return Exit.DONE


def _score_answers(options: argparse.Namespace) -> int:
    unfit = [f"--{name.replace('_', '-')}" for name in _FLAGS_OF_ASKING if getattr(options, name) is not None]
    if unfit:
        raise InvalidInput(f"--outputs scores answers that are there and asks no model; leave out {', '.join(unfit)}")
    answers = parse_answers(_read(options.outputs))
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    result = score(answers, language=options.language or "python", threshold=threshold, prompt=options.prompt or "")
    model = options.model or "unknown"
    question = options.prompt or f"(answers from {'standard input' if options.outputs == '-' else Path(options.outputs).name})"
    has_numbers = result.confidence_percent is not None
    saved_file = None
    if options.save and has_numbers:
        run = Run(
            created_at=datetime.now().astimezone(),
            model=model,
            endpoint="answers",
            question=question,
            settings=RunSettings(n_requested=len(answers)),
            score=result,
        )
        saved_file = Store.open(results_dir()).save(run).as_posix()
    _print(options, result, model, question, saved_file)
    return Exit.DONE if has_numbers else Exit.NO_NUMBERS


def _print(
    options: argparse.Namespace,
    result: Score,
    model: str,
    question: str,
    saved_file: str | None,
    behaviour: Behaviour | None = None,
) -> None:
    if not options.json:
        print(summary_text(result, model=model, question=question, saved_file=saved_file, behaviour=behaviour))
        return
    record: dict[str, Any] = {
        "model": model,
        "question": question,
        "agreement_percent": result.agreement_percent,
        "confidence_percent": result.confidence_percent,
        "normalized_confidence_percent": result.normalized_confidence_percent,
        "n_samples": len(result.samples),
        "saved_file": saved_file,
        "language": result.language,
        "reading": read(result.metrics),
        "notes": list(result.notes),
    }
    record["uncertainty"] = asdict(uncertainty(result, behaviour))
    if behaviour is not None:
        record["behaviour"] = asdict(behaviour.metrics)
    print(json.dumps(record))


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {error.start})") from error


def _read_json(name: str) -> Any:
    try:
        return json.loads(_read(name))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{name} is not JSON: {error}") from error


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Leave it to the caller to print, who takes out what could steer a terminal."""
        raise InvalidInput(f"{message}; --help shows everything")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m evaluator_core",
        description="Ask a coding model the same thing N times: how alike are the programs?",
        epilog="Exit codes: " + ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in Exit),
    )
    add = parser.add_argument
    add("payload", nargs="?", help="a JSON file with the body of POST /evaluate; - for standard input")
    add("--prompt", help="what to ask; with --outputs, what was asked")
    add("--model", help="a model's name, or endpoint/model; the built-in model when left out")
    add("--endpoint", help="an endpoint's name, or an address up to /v1")
    add("-n", "--n-samples", type=int, metavar="N", help="how many answers to ask for (5)")
    add("--threshold", type=float, help=f"similarity from which a pair agrees ({DEFAULT_THRESHOLD})")
    add("--temperature", type=float, help="sampling temperature (0.7)")
    add("--max-tokens", type=int, metavar="N", help="longest answer")
    names = ", ".join(language.name for language in LANGUAGES)
    add("--language", help=f"{AUTO}, {names}, or another name to compare by text alone (python)")
    add("--system-prompt", metavar="TEXT", help="what the model is told before the prompt")
    add("--seed", type=int, metavar="N", help="answer k is asked for with seed + k")
    add("--concurrency", type=int, metavar="N", help="requests at the same time")
    add("--behaviour", action="store_const", const=True, help="run the answers (Python) in a sandbox, and group them")
    add("--outputs", metavar="FILE", help="score these answers instead: JSON lines of strings or {text}, or a JSON list; -")
    add("--save", action="store_true", help="with --outputs: store the run like any other")
    add("--resume", nargs="?", const="", metavar="RUN", help="go on with an interrupted run; the latest when none is named")
    add("--as-is", action="store_true", help="with --resume: ask for nothing more, score what arrived")
    add("--extend", metavar="FILE", help="ask for -n more answers (5 unless said) of a stored run, which becomes a new version")
    add("--until", type=float, metavar="POINTS", help="with --extend: stop once confidence is known to ± so many points")
    add("--list-models", nargs="?", const="", metavar="ENDPOINT", help="list the endpoints, or one endpoint's models")
    add("--json", action="store_true", help="print one JSON object instead of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
