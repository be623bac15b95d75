"""Webhooks: telling other systems of events, signed after the Standard Webhooks specification.

`offer_kinds` says which kinds of event an installation's apps let out; endpoints choose among them in the admin.
"""

from outbox.webhooks.delivery import WEBHOOK, list_offered_kinds, offer_kinds, register

__all__ = ["WEBHOOK", "list_offered_kinds", "offer_kinds", "register"]
