"""The Celery app, configured by the `CELERY_…` settings: where the relay publishes when `CELERY_BROKER_URL` is set.

A message is a hint that carries ids, never state; PostgreSQL stays the record.
"""

import os

from celery import Celery

from config.environment import read_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

read_settings()
app = Celery("handover")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
