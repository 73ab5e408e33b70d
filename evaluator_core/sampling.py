"""N independent requests to a model: concurrent, retried where that helps, and each outcome handed over as it arrives."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam

from evaluator_core.chat_answer import BadAnswer, parse_answer, retry_after_seconds
from evaluator_core.endpoint import BUILTIN, key_refused, unreachable
from evaluator_core.endpoints import model_unknown
from evaluator_core.errors import RequestRefused
from evaluator_core.plan import Plan
from evaluator_core.secret import Secret, redact
from evaluator_core.types import Reply, SampleFailure

Outcome = Reply | SampleFailure

# A parameter that is not taken at all, as against a value out of its range.
_NOT_TAKEN = re.compile(r"support|only the default|deprecated|unknown|unrecognized|unexpected|not (allowed|permitted|available)")

# How endpoints that answer 400 say that they do not have the model.
_NO_MODEL = re.compile(
    r"not a valid model|(invalid|unknown|no such) model|model\b[^.]{0,80}\b(not found|does not exist)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an answer, and how often to ask again."""

    request_seconds: float = 300.0
    """The longest time for one request, from sending it to the last byte."""
    attempts: int = 6
    """Requests in all for one sample, where the endpoint is busy or breaks off."""
    timeout_attempts: int = 2
    """Requests in all for one sample, where the endpoint does not answer in time."""
    first_delay: float = 0.5
    """The wait before the second request; it doubles each time, give or take a quarter."""
    longest_delay: float = 20.0
    """The longest such wait."""
    longest_retry_after: float = 120.0
    """The longest wait that an endpoint may ask for; a longer one is a failure."""


class Dialect:
    """Which parameters a model takes, learnt from what the endpoint says of them. One per run, shared by its requests."""

    def __init__(self, refused: Iterable[str] = ()) -> None:
        """Everything is sent until the endpoint refuses it, but for what is known to be refused."""
        self.token_limit = "max_tokens"
        self.refused = set(refused)

    def parameters(self, plan: Plan, index: int) -> dict[str, Any]:
        """The parameters of one request, without those that the model does not take."""
        wanted = {
            "temperature": plan.temperature,
            self.token_limit: plan.max_tokens,
            "seed": None if plan.seed is None else plan.seed + index,
        }
        return {name: value for name, value in wanted.items() if value is not None and name not in self.refused}

    def learn(self, sent: dict[str, Any], complaint: str) -> bool:
        """Whether the same request in another form may pass, after a complaint about the form it was sent in."""
        complaint = complaint.lower()
        if "max_tokens" in sent and "max_completion_tokens" in complaint:
            self.token_limit = "max_completion_tokens"
            return True
        for name in ("temperature", "seed"):
            if name in sent and name in complaint and _NOT_TAKEN.search(complaint):
                self.refused.add(name)
                return True
        return False

    def notes(self) -> list[str]:
        """What a reader of the results must know."""
        return [f"The model does not take {name}: the answers were made without it." for name in sorted(self.refused)]


async def sample(
    plan: Plan,
    indices: Iterable[int],
    on_outcome: Callable[[Outcome], None],
    *,
    patience: Patience | None = None,
    dialect: Dialect | None = None,
) -> None:
    """Ask once for each index, at most ``plan.concurrency`` at a time; ``on_outcome`` gets each as it arrives.

    What cannot be had is a ``SampleFailure``. What no further request can mend (a refused key, an unknown model, a
    request that is not taken, a server that is not there) ends everything with an ``EndpointError``.
    """
    waiting = list(indices)[::-1]
    async with _Asker.open(plan, patience or Patience(), dialect or Dialect()) as asker:

        async def work() -> None:
            while waiting:
                on_outcome(await asker.ask(waiting.pop()))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(plan.concurrency, len(waiting))):
                    group.create_task(work())
        except BaseExceptionGroup as group_error:
            raise _first(group_error) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Asker:
    """Asks one model, again and again."""

    def __init__(self, plan: Plan, patience: Patience, dialect: Dialect, http: httpx2.AsyncClient) -> None:
        self._plan = plan
        self._patience = patience
        self._dialect = dialect
        self._http = http
        self._client: tuple[str, openai.AsyncOpenAI] | None = None
        self._answered = False
        self._messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": plan.prompt}]
        if plan.system_prompt:
            self._messages.insert(0, {"role": "system", "content": plan.system_prompt})

    @classmethod
    @asynccontextmanager
    async def open(cls, plan: Plan, patience: Patience, dialect: Dialect) -> AsyncIterator[_Asker]:
        async with openai.DefaultAsyncHttpxClient(**plan.endpoint.http_options(patience.request_seconds)) as http:
            yield cls(plan, patience, dialect, http)

    async def ask(self, index: int) -> Outcome:
        """One answer, after as many requests as it takes and patience allows."""
        patience = self._patience
        delay = patience.first_delay
        attempt = 0
        while True:
            attempt += 1
            parameters = self._dialect.parameters(self._plan, index)
            client, key = await self._connect()
            try:
                reply = await self._request(index, parameters, client)
            except openai.APIStatusError as error:
                self._answered = True
                if error.status_code in (400, 422) and self._adapts(parameters, index, redact(_complaint(error), key)):
                    attempt -= 1
                    continue
                await self._end_on_refusal(error, key)
                failure = _status_failure(index, error, key)
                asked = retry_after_seconds(error.response.headers)
                if asked is not None and asked > patience.longest_retry_after:
                    return failure
                wait, attempts = asked, patience.attempts
            except (TimeoutError, openai.APITimeoutError):
                limit = f"{patience.request_seconds:g} s"
                failure = SampleFailure(index, "timeout", f"no answer within {limit}")
                wait, attempts = None, patience.timeout_attempts
            except openai.APIConnectionError as error:
                if attempt >= 2 and not self._answered and isinstance(error.__cause__, httpx2.ConnectError):
                    raise unreachable(self._plan.endpoint) from error
                failure = SampleFailure(
                    index, "connection", f"the connection broke off: {redact(str(error.__cause__ or error), key)}"
                )
                wait, attempts = None, patience.attempts
            except BadAnswer as error:
                self._answered = True
                failure = SampleFailure(index, error.kind, redact(str(error), key))
                wait, attempts = None, patience.attempts if error.may_be_mended else 0
            else:
                self._answered = True
                return reply
            if attempt >= attempts:
                return failure
            # At least what the endpoint asks for; one that asks for no wait at all must not use up every attempt at once.
            await asyncio.sleep(max(wait or 0.0, delay * random.uniform(0.75, 1.25)))
            delay = min(2 * delay, patience.longest_delay)

    async def _connect(self) -> tuple[openai.AsyncOpenAI, Secret]:
        """The client to ask by. The built-in model may have been restarted at another address since the last request."""
        endpoint = self._plan.endpoint
        base_url, key = await asyncio.to_thread(endpoint.connect) if endpoint.name == BUILTIN else endpoint.connect()
        if self._client is None or self._client[0] != base_url:
            client = openai.AsyncOpenAI(base_url=base_url, api_key=key.reveal(), max_retries=0, http_client=self._http)
            self._client = (base_url, client)
        return self._client[1], key

    async def _request(self, index: int, parameters: dict[str, Any], client: openai.AsyncOpenAI) -> Reply:
        started = time.monotonic()
        # httpx limits the wait for each byte; only this ends an answer that drips for ever.
        async with asyncio.timeout(self._patience.request_seconds):
            response = await client.chat.completions.with_raw_response.create(
                model=self._plan.model,
                messages=self._messages,
                **parameters,
            )
        return parse_answer(index, response.http_response.content, time.monotonic() - started)

    def _adapts(self, sent: dict[str, Any], index: int, complaint: str) -> bool:
        if self._dialect.parameters(self._plan, index) != sent:
            return True  # another request has learnt it meanwhile
        return self._dialect.learn(sent, complaint)

    async def _end_on_refusal(self, error: openai.APIStatusError, key: Secret) -> None:
        """Raise what no further request can mend; return when asking again may help."""
        endpoint, status = self._plan.endpoint, error.status_code
        complaint = redact(_complaint(error), key)[:300]
        if status in (401, 403):
            raise key_refused(endpoint) from error
        if status == 404 or (status == 400 and _NO_MODEL.search(complaint)):
            raise await asyncio.to_thread(model_unknown, endpoint, self._plan.model) from error
        if status == 429 and "insufficient_quota" in complaint:
            raise RequestRefused(f"{endpoint.name} says that the account has no credit left: {complaint}") from error
        if status < 500 and status not in (408, 409, 425, 429):
            raise RequestRefused(f"{endpoint.name} does not take the request ({status}): {complaint}") from error


def _complaint(error: openai.APIStatusError) -> str:
    """What the endpoint says is wrong, with the parameter and the code it names; in its own form where that is unusual."""
    body = error.body if isinstance(error.body, dict) else {}
    parts = [body.get("message") or error.response.text or error.message, body.get("param"), body.get("code")]
    return " ".join(str(part) for part in parts if part)


def _status_failure(index: int, error: openai.APIStatusError, key: Secret) -> SampleFailure:
    kind = "rate_limited" if error.status_code == 429 else "server_error"
    return SampleFailure(index, kind, f"status {error.status_code}: {redact(_complaint(error), key)[:300]}")
