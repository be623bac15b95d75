"""What can go wrong in the exams app. Each has a stable `code`; the docstring is the default message."""

from typing import Any, ClassVar


class ExamsError(Exception):
    """The exam service refused this."""

    code: ClassVar[str] = "exams_error"
    status: ClassVar[int] = 400

    def __init__(
        self,
        detail: str | None = None,
        *,
        pointer: str | None = None,
        retry_after: int | None = None,
        **extra: Any,
    ) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        self.pointer = pointer
        self.retry_after = retry_after
        self.extra = extra
        super().__init__(self.detail)


class Malformed(ExamsError):
    """The request is not in the written form; `errors` says where."""

    code = "malformed"
    status = 400


class TooSlow(ExamsError):
    """The request was not complete in time; please send it again."""

    code = "too_slow"
    status = 408


class UnsupportedMediaType(ExamsError):
    """Send JSON, as application/json in UTF-8."""

    code = "unsupported_media_type"
    status = 415


class MethodNotAllowed(ExamsError):
    """This address does not take this method."""

    code = "method_not_allowed"
    status = 405


class TooLarge(ExamsError):
    """The request is larger than an exam may be."""

    code = "too_large"
    status = 413


class NotAuthenticated(ExamsError):
    """Sign in first: send a bearer token."""

    code = "not_authenticated"
    status = 401
    auth_header = "Bearer"  # what a 401 must say: how to sign in


class InvalidCredentials(ExamsError):
    """This username and password do not belong together."""

    code = "invalid_credentials"
    status = 401
    auth_header = "Bearer"  # what a 401 must say: how to sign in


class InvalidToken(ExamsError):
    """This token is not valid; sign in again."""

    code = "invalid_token"
    status = 401
    auth_header = "Bearer"


class ForeignPage(ExamsError):
    """A session was sent without the CSRF token of a page of ours."""

    code = "permission_denied"
    status = 403


class NotFound(ExamsError):
    """There is nothing of yours here."""

    code = "not_found"
    status = 404


class NotOpen(ExamsError):
    """This exam cannot be sat now."""

    code = "exam_not_open"
    status = 409


class NoAttemptsLeft(ExamsError):
    """All attempts at this exam have been used."""

    code = "no_attempts_left"
    status = 409


class AttemptClosed(ExamsError):
    """This attempt has ended; nothing more is accepted for it."""

    code = "attempt_closed"
    status = 409


class DifferentAnswers(ExamsError):
    """Other answers were already accepted for this attempt; nothing was changed."""

    code = "different_answers"
    status = 409


class StaleDraft(ExamsError):
    """Another page saved this attempt after yours did; nothing was overwritten."""

    code = "stale_draft"
    status = 409


class RateLimited(ExamsError):
    """Too many requests at once; please wait as long as Retry-After says."""

    code = "rate_limited"
    status = 429


class Overloaded(ExamsError):
    """The service is busy; please send the same request again after Retry-After."""

    code = "overloaded"
    status = 503


class NotInTime(Overloaded):
    """This took too long, and nothing was changed; please send the same request again after Retry-After."""


class CannotBeSafe(Overloaded):
    """Nothing could be kept safe at this moment, so nothing was saved; please send the same request again after Retry-After."""


class StorageAway(Overloaded):
    """Files cannot be kept or shown at this moment; please send the same request again after Retry-After."""


class OutcomeUnknown(ExamsError):
    """It is not known whether this was stored; please send the same request again."""

    code = "outcome_unknown"
    status = 503


class NotYetCertain(OutcomeUnknown):
    """What would be told is not certain to be kept yet; please ask again after Retry-After."""


class WrongOffset(ExamsError):
    """The upload does not stand where this chunk begins; go on at `offset`."""

    code = "wrong_offset"
    status = 409


class UploadOver(ExamsError):
    """This upload has ended and takes nothing more; begin a new one."""

    code = "upload_over"
    status = 409


class TooManyFiles(ExamsError):
    """This attempt has taken as much as it may; use one of the files you have sent."""

    code = "too_many_files"
    status = 409


class UnsuitableFile(ExamsError):
    """This file cannot be an answer; please choose another one."""

    code = "unsuitable_file"
    status = 422


class DigestMismatch(ExamsError):
    """What arrived is not the file that was announced; please send it again."""

    code = "digest_mismatch"
    status = 422


class RevisionPublished(ExamsError):
    """A published revision never changes; make a new revision from it and publish that."""

    code = "revision_published"
    status = 409


class NotPublishable(ExamsError):
    """This revision cannot be published yet; `problems` names each question and what is wrong with it."""

    code = "not_publishable"
    status = 409


class InvalidPoints(ExamsError):
    """These are not points for this question: from 0 to its maximum, with at most three decimals."""

    code = "invalid_points"
    status = 400
