"""What can go wrong in the log and the queue. Each has a stable `code`; the docstring is the message."""


class OutboxError(Exception):
    """The event log or the job queue refused this."""

    code = "outbox_error"
    status = 500

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or (type(self).__doc__ or "").strip())


class UnknownConsumer(OutboxError):
    """There is no consumer of this name."""

    code = "unknown_consumer"
    status = 404


class CursorOfAnotherEpoch(OutboxError):
    """The consumer's cursor belongs to another epoch of the log, so its position means nothing here."""

    code = "cursor_of_another_epoch"


class LogOfAnotherCluster(OutboxError):
    """The log was restored from another server, whose transaction ids are ahead of this one's: nothing new would ever be numbered. Begin a new epoch first: manage.py run_sequencer --start-epoch (docs/operations.md, Restoring)."""

    code = "log_of_another_cluster"


class CursorAheadOfLog(OutboxError):
    """The consumer's cursor is past the end of the log: the log was restored, or the cursor was moved by hand."""

    code = "cursor_ahead_of_log"


class CursorMoved(OutboxError):
    """The cursor changed under a running batch (a rebuild began, or another instance went on): nothing was kept."""

    code = "cursor_moved"


class NotRebuildable(OutboxError):
    """This consumer has no tables that could be filled again from the log."""

    code = "not_rebuildable"


class ProcessLost(OutboxError):
    """Three processes ended while they applied this event, without an error: it probably kills them."""

    code = "process_lost"


class RebuildFailed(OutboxError):
    """The rebuild stopped before it was complete; the live tables are as they were."""

    code = "rebuild_failed"


class Unavailable(Exception):
    """Something outside the database is away; nobody's work is at fault, and the same is done again later, however often."""
