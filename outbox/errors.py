"""What can go wrong in the log and the queue. Each has a stable `code`; the docstring is the message."""


class OutboxError(Exception):
    """The event log or the job queue refused this."""

    code = "outbox_error"
    status = 500

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or (type(self).__doc__ or "").strip())
