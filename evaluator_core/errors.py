"""What can go wrong in a way that a user can mend.

EvaluatorError
├── InvalidInput            a value that was given cannot be used
├── ResultNotFound          no stored run has that name
├── ResultDamaged           a stored file cannot be read as a run
├── StoreUnavailable        the results folder cannot be read, written or locked
├── AssetUnavailable        a download is missing, damaged or cannot be had
├── SandboxUnavailable      answers cannot be run safely here, so they are not run
├── BehaviourStopped        the answers were not run to the end
├── EndpointError           the model could not be asked
│   ├── EndpointUnreachable     nothing answers at its address
│   ├── AuthenticationFailed    no key, or one that is refused
│   ├── ModelNotFound           the endpoint does not know the model
│   └── RequestRefused          the endpoint does not take the request
├── ServerBusy              too much is waiting already
└── RunInterrupted          a run ended early; what arrived is kept
    ├── NotEnoughSamples        fewer than two answers arrived
    └── RunCancelled            somebody ended it
"""

from __future__ import annotations


class EvaluatorError(Exception):
    """Base of all errors whose message is meant for a user: what happened and what to do next."""

    kind = "error"


class InvalidInput(EvaluatorError, ValueError):
    """One or more values cannot be used; the message names every one of them."""

    kind = "invalid_input"


class ResultNotFound(EvaluatorError):
    """No stored run has the name that was asked for."""

    kind = "not_found"


class ResultDamaged(EvaluatorError):
    """A file in the results folder is not a run: cut off, edited, or made by something else."""

    kind = "result_damaged"


class StoreUnavailable(EvaluatorError):
    """The results folder cannot be used now."""

    kind = "store_unavailable"


class AssetUnavailable(EvaluatorError):
    """A pinned download is missing or damaged, or pip could not fetch it."""

    kind = "asset_unavailable"


class SandboxUnavailable(EvaluatorError):
    """The sandbox cannot be started. There is no other way to run answers: without it they are not run."""

    kind = "sandbox_unavailable"


class BehaviourStopped(EvaluatorError):
    """Somebody, or the limit of time, ended the running of the answers; the run itself stays as it was."""

    kind = "cancelled"


class EndpointError(EvaluatorError):
    """The model could not be asked, and asking again will not help."""

    kind = "endpoint_error"


class EndpointUnreachable(EndpointError):
    """Nothing answers at the endpoint's address."""

    kind = "endpoint_unreachable"


class AuthenticationFailed(EndpointError):
    """The endpoint wants a key, or refuses the one it was given."""

    kind = "authentication_failed"


class ModelNotFound(EndpointError):
    """The endpoint does not know the model."""

    kind = "model_not_found"


class RequestRefused(EndpointError):
    """The endpoint does not take the request as it is."""

    kind = "request_refused"


class ServerBusy(EvaluatorError):
    """The server takes nothing more now; asking again in ``retry_after`` seconds may help."""

    kind = "busy"

    def __init__(self, message: str, retry_after: int) -> None:
        """``retry_after`` is in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class RunInterrupted(EvaluatorError):
    """A run ended before its numbers were there. What arrived is kept under ``run_id``."""

    kind = "interrupted"

    def __init__(self, message: str, run_id: str) -> None:
        """``run_id`` names the unfinished run for a later resume."""
        super().__init__(message)
        self.run_id = run_id


class NotEnoughSamples(RunInterrupted):
    """Fewer than two answers arrived: there is nothing to compare."""

    kind = "not_enough_samples"


class RunCancelled(RunInterrupted):
    """Somebody ended the run."""

    kind = "cancelled"
