"""procrastinate: `python procrastinate_peer.py install | fill | work [CONCURRENCY]`."""

import asyncio
import sys

import procrastinate
import work
from psycopg_pool import AsyncConnectionPool

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=work.DATABASE))
pool = None


@app.task(name="grade")
async def grade(submission_id):
    await work.do_async(pool, submission_id)


async def install():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def fill():
    async with app.open_async():
        await grade.batch_defer_async(*({"submission_id": each} for each in work.list_submissions()))


async def run(concurrency):
    global pool
    async with (
        AsyncConnectionPool(
            work.DATABASE, min_size=concurrency, max_size=concurrency, kwargs={"autocommit": True}
        ) as pool,
        app.open_async(),
    ):
        await app.run_worker_async(concurrency=concurrency)


deed, *rest = sys.argv[1:]
asyncio.run({"install": install, "fill": fill, "work": lambda: run(int(rest[0]) if rest else 1)}[deed]())
