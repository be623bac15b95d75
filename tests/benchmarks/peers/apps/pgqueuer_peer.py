"""pgqueuer: `python pgqueuer_peer.py install | fill | work [BATCH]`."""

import asyncio
import sys

import asyncpg
import work
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries
from psycopg_pool import AsyncConnectionPool

DEFAULT_BATCH = 10


async def install():
    connection = await asyncpg.connect(work.DATABASE)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()


async def fill():
    connection = await asyncpg.connect(work.DATABASE)
    queries = Queries(AsyncpgDriver(connection))
    ids = work.list_submissions()
    await queries.enqueue(["grade"] * len(ids), [str(each).encode() for each in ids], [0] * len(ids))
    await connection.close()


async def run(batch):
    connection = await asyncpg.connect(work.DATABASE)
    queue = PgQueuer(AsyncpgDriver(connection))
    async with AsyncConnectionPool(
        work.DATABASE, min_size=10, max_size=10, kwargs={"autocommit": True}
    ) as pool:

        @queue.entrypoint("grade")
        async def grade(job):
            await work.do_async(pool, int(job.payload))

        await queue.run(batch_size=batch)


deed, *rest = sys.argv[1:]
asyncio.run(
    {"install": install, "fill": fill, "work": lambda: run(int(rest[0]) if rest else DEFAULT_BATCH)}[deed]()
)
