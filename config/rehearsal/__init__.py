"""A deadline rehearsed: a made-up school hands in against a running Handover, and every receipt is held against the tables.

`arrivals` and `behaviour` decide who sends when and how, `courier` sends, `watch` looks at the queue meanwhile, `reconcile`
compares, `page` writes it down. `manage.py rehearse_deadline` is the door.
"""
