"""Tables of the outbox: the log, who reads it, and the job queue."""

from outbox.models.consumers import Consumer, ParkedEvent, ParkedSubject
from outbox.models.effects import EffectReceipt, EffectState, PlannedMoment
from outbox.models.jobs import DeadLetter, FinishedJob, Job, JobState, Lane, RetryBudget
from outbox.models.listings import FinishedJobListing, JobListing
from outbox.models.log import Event, EventPosition, Tick
from outbox.models.processes import Heartbeat
from outbox.models.webhooks import WebhookEndpoint, WebhookTry

__all__ = [
    "Consumer",
    "DeadLetter",
    "EffectReceipt",
    "EffectState",
    "Event",
    "EventPosition",
    "FinishedJob",
    "FinishedJobListing",
    "Heartbeat",
    "Job",
    "JobListing",
    "JobState",
    "Lane",
    "ParkedEvent",
    "ParkedSubject",
    "PlannedMoment",
    "RetryBudget",
    "Tick",
    "WebhookEndpoint",
    "WebhookTry",
]
