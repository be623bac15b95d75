"""Heartbeats: one row per incarnation, written once a second, gone after an orderly end."""

import os
from datetime import timedelta

import pytest
from django.db import connection

from outbox.models import Heartbeat
from outbox.processes import Heart, beat, list_roles_alive

pytestmark = pytest.mark.django_db


def test_heart_writes_one_row_and_then_at_most_once_a_second() -> None:
    heart = Heart("sequencer")
    heart.beat()
    first = Heartbeat.objects.get()

    for _ in range(10):
        heart.beat()

    assert (first.incarnation, first.role, first.pid) == (heart.incarnation, "sequencer", os.getpid())
    assert Heartbeat.objects.get().seen_at == first.seen_at


def test_two_incarnations_of_one_role_never_share_a_row() -> None:
    Heart("worker").beat()
    Heart("worker").beat()

    assert Heartbeat.objects.filter(role="worker").count() == 2


def test_heart_that_stops_in_good_order_leaves_no_row() -> None:
    heart = Heart("worker")
    heart.beat()

    heart.stop()

    assert not Heartbeat.objects.exists()


def test_beat_uses_the_same_heart_for_the_same_role_of_a_process() -> None:
    assert beat("sweeper") is beat("sweeper")
    assert Heartbeat.objects.filter(role="sweeper").count() == 1


def test_role_is_alive_while_somebody_beat_for_it_lately() -> None:
    Heart("worker").beat()
    Heart("sequencer").beat()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE outbox_heartbeat SET seen_at = seen_at - interval '1 minute' WHERE role = 'worker'"
        )

    assert list_roles_alive(timedelta(seconds=30)) == {"sequencer"}
    assert list_roles_alive(timedelta(minutes=2)) == {"sequencer", "worker"}
