"""The job itself, the same for every peer: two reads, a little arithmetic, two writes, in one transaction.

These files run in the peers' own environment, where nothing of Handover is installed. A job with a gate first waits for the
benchmark's advisory lock: so it is known to be in somebody's hands when that somebody is killed. Nothing here guards against doing a
job twice, because that is what is counted.
"""

import json
import os

DATABASE = os.environ["PEER_DATABASE"]
GATED = os.environ.get("PEER_GATED") == "1"
GATE = 4711
WAIT_AT_GATE = "SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock_shared(%s)"
READ_SUBMISSION = "SELECT exam_id, answers::text FROM bench_submission WHERE id = %s"
READ_KEY = "SELECT answers::text FROM bench_key WHERE exam_id = %s"
WRITE_RESULT = "INSERT INTO bench_result (submission_id, points) VALUES (%s, %s)"
WRITE_EVENT = "INSERT INTO bench_event (submission_id, payload) VALUES (%s, %s)"


def count_points(answers, key):
    """Return how many answers are those of the key."""
    return sum(answers.get(question) == answer for question, answer in key.items())


def describe(points):
    """Return the event's payload."""
    return json.dumps({"points": points})


def do(connection, submission_id):
    """Do the job on a psycopg connection in autocommit mode."""
    if GATED:
        connection.execute(WAIT_AT_GATE, (GATE, GATE))
    with connection.transaction():
        exam_id, answers = connection.execute(READ_SUBMISSION, (submission_id,)).fetchone()
        (key,) = connection.execute(READ_KEY, (exam_id,)).fetchone()
        points = count_points(json.loads(answers), json.loads(key))
        connection.execute(WRITE_RESULT, (submission_id, points))
        connection.execute(WRITE_EVENT, (submission_id, describe(points)))


async def do_async(pool, submission_id):
    """Do the job on a connection of an asynchronous pool."""
    async with pool.connection() as connection:
        if GATED:
            await connection.execute(WAIT_AT_GATE, (GATE, GATE))
        async with connection.transaction():
            exam_id, answers = await (await connection.execute(READ_SUBMISSION, (submission_id,))).fetchone()
            (key,) = await (await connection.execute(READ_KEY, (exam_id,))).fetchone()
            points = count_points(json.loads(answers), json.loads(key))
            await connection.execute(WRITE_RESULT, (submission_id, points))
            await connection.execute(WRITE_EVENT, (submission_id, describe(points)))


def list_submissions():
    """Return the ids of all there are, in order."""
    import psycopg

    with psycopg.connect(DATABASE) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM bench_submission ORDER BY id")]
