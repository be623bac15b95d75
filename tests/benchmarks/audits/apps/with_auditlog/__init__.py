"""django-auditlog, as its manual sets it up: the model registered, the actor set (its middleware does that for a request)."""
