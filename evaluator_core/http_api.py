"""The routes: evaluate, score, read back. They serve beside the pages, on the same port and the same runs.

Whatever goes wrong is JSON too: ``{"error": {"kind", "message"}}``. ``http_guard`` has let the request pass before.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import Any

from starlette.endpoints import HTTPEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from evaluator_core import errors
from evaluator_core.endpoints import endpoints, list_models
from evaluator_core.http_guard import error
from evaluator_core.jobs import Job, JobRunner
from evaluator_core.metrics import read
from evaluator_core.openapi import PER_PAGE_MAX, SCORE_FIELDS, description
from evaluator_core.plan import plan_from_payload
from evaluator_core.scoring import score
from evaluator_core.settings import ServerSettings
from evaluator_core.store import Store
from evaluator_core.summary import row_of

_log = logging.getLogger(__name__)

_BODY_SECONDS = 30.0
_SCORING_AT_ONCE = 2

_STATUS: dict[type[errors.EvaluatorError], int] = {
    errors.InvalidInput: 400,
    errors.ResultNotFound: 404,
    errors.EndpointError: 502,
    errors.NotEnoughSamples: 502,
    errors.ServerBusy: 503,
    errors.RunCancelled: 503,
    errors.AssetUnavailable: 503,
    errors.StoreUnavailable: 503,
}


@dataclass(frozen=True, slots=True)
class Server:
    """What the routes work on."""

    settings: ServerSettings
    """The limits."""
    store: Callable[[], Store]
    """The results folder."""
    runner: Callable[[], JobRunner]
    """The background runs."""


class _Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.answer = error(status, kind, message)


def api_routes(server: Server) -> list[Route]:
    """All routes. Each is a class, so that a wrong method is answered here and not by the pages."""
    scoring = asyncio.Semaphore(_SCORING_AT_ONCE)

    class Evaluate(_Endpoint):
        async def post(self, request: Request) -> Response:
            body = await _read_json(request, server.settings.max_body_bytes)
            try:
                # Names may have to be looked up, and files be read.
                plan = await asyncio.to_thread(plan_from_payload, body, server.settings)
            except errors.ModelNotFound as problem:
                raise _Refused(400, problem.kind, f"model: {problem}") from problem
            runner = await asyncio.to_thread(server.runner)
            job_id = runner.start(plan)
            job = await _end_of(runner.ended(job_id), request)
            if job is None:
                runner.cancel(job_id)  # nobody waits for the answer any more; what arrived is kept
                return Response(status_code=499)
            if job.evaluation is None:
                raise job.error or errors.EvaluatorError("the run ended without a result")
            row = asdict(row_of(job.evaluation.run, job.evaluation.saved_file))
            del row["timestamp"]
            return _json(row)

    class Score(_Endpoint):
        async def post(self, request: Request) -> Response:
            values = _score_values(await _read_json(request, server.settings.max_body_bytes), server.settings)
            with_pairs = values.pop("pairs")
            async with scoring:
                result = await asyncio.to_thread(lambda: score(**values))
            reading = read(result.metrics)
            answer = asdict(result.metrics) | {
                "n_samples": len(result.samples),
                "language": result.language,
                "reading": reading.value if reading else None,
                "notes": list(result.notes),
            }
            if with_pairs:
                answer["pairwise"] = [pair._asdict() for pair in result.pairs()]
            return _json(answer)

    class Results(_Endpoint):
        async def get(self, request: Request) -> Response:
            page, per_page = _paging(request)
            rows = (await asyncio.to_thread(server.store().summary)).rows
            # Turned round as a whole, so that of the same second the row that was written last comes first.
            ordered = sorted(rows, key=lambda row: row.timestamp)[::-1]
            first = (page - 1) * per_page
            shown = [asdict(row) for row in ordered[first : first + per_page]]
            return _json({"results": shown, "page": page, "per_page": per_page, "total": len(rows)})

    class Result(_Endpoint):
        async def get(self, request: Request) -> Response:
            path = server.store().path_of(request.path_params["name"])
            return FileResponse(path, media_type="application/json")

    class Models(_Endpoint):
        async def get(self, request: Request) -> Response:
            known = endpoints(exposed=server.settings.exposed)
            name = request.query_params.get("endpoint")
            if name is not None and name not in known:
                raise errors.InvalidInput(f"endpoint: {name[:80]!r} is not known; there are {', '.join(known)}")
            listed = {name: await asyncio.to_thread(list_models, known[name])} if name else {}
            return _json(
                {
                    "endpoints": [
                        {
                            "name": one.name,
                            "about": one.about,
                            "ready": one.api_key_env is None or one.key() is not None,
                            "models": list(listed.get(one.name, one.models)),
                        }
                        for one in known.values()
                        if name in (None, one.name)
                    ]
                }
            )

    class OpenApi(_Endpoint):
        async def get(self, request: Request) -> Response:
            return _json(description(server.settings))

    return [
        Route("/evaluate", Evaluate),
        Route("/score", Score),
        Route("/results", Results),
        Route("/results/{name}", Result),
        Route("/models", Models),
        Route("/openapi.json", OpenApi),
    ]


class _Endpoint(HTTPEndpoint):
    """A route whose errors are JSON."""

    async def dispatch(self) -> None:
        request = Request(self.scope, self.receive, self.send)
        handler = getattr(self, request.method.lower(), None) if request.method in ("GET", "POST") else None
        if handler is None:
            answer: Response = error(405, "method_not_allowed", f"{request.method} is not for this route", self._allow())
        else:
            try:
                answer = await handler(request)
            except _Refused as refused:
                answer = refused.answer
            except errors.EvaluatorError as problem:
                answer = _error_answer(problem)
            except ClientDisconnect:
                answer = Response(status_code=499)
            except Exception:
                # A fault of this program is answered as every error is; what it was is for the owner alone.
                _log.exception("%s %s failed", request.method, type(self).__name__)
                answer = error(500, "error", "internal error; the server's log has the details")
        await answer(self.scope, self.receive, self.send)

    def _allow(self) -> dict[str, str]:
        return {"Allow": ", ".join(name.upper() for name in ("get", "post") if hasattr(self, name))}


def _error_answer(problem: errors.EvaluatorError) -> Response:
    status = next((status for kind, status in _STATUS.items() if isinstance(problem, kind)), 500)
    headers = {"Retry-After": str(problem.retry_after)} if isinstance(problem, errors.ServerBusy) else None
    return error(status, problem.kind, str(problem), headers)


def _json(value: Any) -> Response:
    """JSON that is readable in a terminal as well."""
    return Response(json.dumps(value, indent=2) + "\n", media_type="application/json")


async def _end_of(ended: Future[Job], request: Request) -> Job | None:
    """The job once it has ended; ``None`` when the client goes away before."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    finished, leaving = asyncio.wrap_future(ended), asyncio.create_task(gone())
    waited_for: set[asyncio.Future[Any]] = {finished, leaving}
    await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    return finished.result() if finished.done() else None


async def _read_json(request: Request, longest: int) -> Any:
    """The body, checked in the order in which a client would mend it: kind, length, form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise _Refused(415, "unsupported_media_type", "send the body as Content-Type: application/json")
    too_large = _Refused(413, "too_large", f"the body is longer than the {longest:,} bytes that this server takes")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > longest:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > longest:
                    raise too_large
    except TimeoutError:
        raise _Refused(408, "timeout", f"the body did not arrive within {_BODY_SECONDS:.0f} s") from None
    try:
        return json.loads(body, parse_constant=_no_constant)
    except RecursionError:
        raise errors.InvalidInput("the body is nested too deeply") from None
    except ValueError as problem:
        raise errors.InvalidInput(f"the body is not JSON: {problem}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _score_values(body: Any, settings: ServerSettings) -> dict[str, Any]:
    """The arguments of ``score`` and ``pairs``, with every bad field named in one error."""
    if not isinstance(body, dict):
        raise errors.InvalidInput(f"the body is {type(body).__name__}, not a JSON object")
    problems = [f"{str(name)[:60]}: is not a field" for name in body if name not in SCORE_FIELDS]
    if "outputs" not in body:
        problems.append("outputs: is missing")
    for name, value in body.items():
        if name in SCORE_FIELDS and (problem := SCORE_FIELDS[name].check(value)):
            problems.append(f"{name}: {problem}")
    outputs = body.get("outputs")
    if isinstance(outputs, list) and len(outputs) > settings.max_samples:
        problems.append(f"outputs: {len(outputs)} answers are more than the {settings.max_samples} that this server allows")
    if problems:
        raise errors.InvalidInput("; ".join(problems))
    return {"pairs": False} | body


def _paging(request: Request) -> tuple[int, int]:
    values, problems = {"page": 1, "per_page": 50}, []
    for name, highest in (("page", 1_000_000), ("per_page", PER_PAGE_MAX)):
        text = request.query_params.get(name)
        if text is None:
            continue
        if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= highest:
            values[name] = int(text)
        else:
            problems.append(f"{name}: {text[:40]!r} is not a whole number from 1 to {highest}")
    if problems:
        raise errors.InvalidInput("; ".join(problems))
    return values["page"], values["per_page"]
