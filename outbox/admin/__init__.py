"""The admin's pages of the outbox: everything to be read, and webhooks to be set up."""

from outbox.admin import effects, jobs, log, webhooks

__all__ = ["effects", "jobs", "log", "webhooks"]
