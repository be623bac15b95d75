"""django-reversion, as its manual sets it up: the model registered, each edit a revision with its user (its view mixin's work)."""
