"""Celery on Redis: `python celery_peer.py install | fill`, `celery --app celery_peer worker`. Acknowledged late, or a kill loses what is in hand."""

import os
import sys

import psycopg
import work
from celery import Celery

app = Celery("celery_peer", broker=os.environ["PEER_REDIS"])
app.conf.task_acks_late = True
app.conf.task_ignore_result = True
connection = None


@app.task(name="grade")
def grade(submission_id):
    global connection  # one a process of the pool, made when it does its first job
    if connection is None:
        connection = psycopg.connect(work.DATABASE, autocommit=True)
    work.do(connection, submission_id)


def install():
    app.control.purge()


def fill():
    with app.producer_pool.acquire(block=True) as producer:
        for each in work.list_submissions():
            grade.apply_async((each,), producer=producer)


if __name__ == "__main__":
    {"install": install, "fill": fill}[sys.argv[1]]()
