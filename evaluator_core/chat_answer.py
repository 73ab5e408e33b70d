"""The body of a chat completion → a reply. Bodies come from many servers: nothing in them is taken for granted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evaluator_core.types import Reply


class BadAnswer(Exception):
    """An answer with status 200 that holds no text to score."""

    def __init__(self, kind: str, message: str, *, may_be_mended: bool = False) -> None:
        """``may_be_mended``: asking again may bring a good one, and none has been paid for."""
        super().__init__(message)
        self.kind = kind
        self.may_be_mended = may_be_mended


def parse_answer(index: int, body: bytes, latency_seconds: float) -> Reply:
    """The reply in a completion's body; ``BadAnswer`` when it holds none."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:60].decode("utf-8", "replace")
        raise BadAnswer("bad_response", f"the answer is not JSON; it begins with {start!r}", may_be_mended=True) from error
    choice = _first_choice(data)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish_reason = _text(choice.get("finish_reason"))
    content = _content(message.get("content"))
    if finish_reason == "content_filter":
        raise BadAnswer("content_filter", "the endpoint's content filter held the answer back")
    if not content:
        if refusal := _text(message.get("refusal")):
            raise BadAnswer("refused", f"the model refused: {refusal[:200]}")
        if finish_reason == "length":
            raise BadAnswer("empty", "the token limit was reached before any answer was written; raise max_tokens")
        raise BadAnswer("bad_response", "the answer has no content")
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        index=index,
        text=content,
        finish_reason=finish_reason,
        latency_seconds=round(latency_seconds, 3),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reported_model=_text(data.get("model")),
        system_fingerprint=_text(data.get("system_fingerprint")),
    )


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The wait that an endpoint asks for, in seconds from now; ``None`` when it names none that makes sense."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _first_choice(data: Any) -> dict[str, Any]:
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        error = data.get("error") if isinstance(data, dict) else None
        detail = f": {json.dumps(error)[:200]}" if error else ""
        raise BadAnswer("bad_response", f"the answer has no choices{detail}", may_be_mended=bool(error))
    return choices[0]


def _content(content: Any) -> str:
    """The text of a message, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
