"""The events benchmark's server on current Tornado: python server.py PORT DB_PATH

Ten threads do blocking SQLite reads and writes, each on a connection of its own. `GET /` answers the
newest event, `POST /` stores one with a commit of its own, `GET /stream` follows over Server-Sent
Events.

Its costs are kept on purpose, since they are what the benchmark measures: the queue in front of the
threads has no limit; every listener polls the database twice a second, fetches all rows that it has
not sent, and sends one of them; each commit syncs a rollback journal.
"""

import asyncio
import re
import signal
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import tornado.httpserver
import tornado.iostream
import tornado.netutil
import tornado.web

THREADS = 10
POLL_INTERVAL_S = 0.5
# Python's default of 5 s would turn the longest waits for the write lock into failures.
LOCK_WAIT_MAX_S = 60
LISTEN_BACKLOG = 1024

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body BLOB NOT NULL,
    created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)
"""
LINE_END = re.compile(rb"\r\n|\r|\n")


class Database:
    """Blocking SQLite behind a pool of threads."""

    def __init__(self, path):
        self.path = path
        self.local = threading.local()
        self.pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="sqlite")
        self._connection().execute(SCHEMA)

    def _connection(self):
        """The calling thread's own connection; without a transaction around it, so that each
        statement commits by itself."""
        if not hasattr(self.local, "connection"):
            connection = sqlite3.connect(self.path, timeout=LOCK_WAIT_MAX_S, isolation_level=None)
            # SQLite's defaults, said aloud: a build or an older file may have others.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = FULL")
            self.local.connection = connection
        return self.local.connection

    def _run(self, sql, parameters):
        return self._connection().execute(sql, parameters).fetchall()

    async def run(self, sql, *parameters):
        """All rows of one statement, executed on the pool."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, self._run, sql, parameters)

    def close(self):
        """Waits for the statements that are executing; those still queued are dropped."""
        self.pool.shutdown(cancel_futures=True)


class EventHandler(tornado.web.RequestHandler):
    async def get(self):
        rows = await self.application.database.run(
            "SELECT body FROM events ORDER BY id DESC LIMIT 1"
        )
        if not rows:
            self.set_status(204)
            return
        self.set_header("Content-Type", "text/plain")
        self.write(rows[0][0])

    async def post(self):
        await self.application.database.run(
            "INSERT INTO events (body) VALUES (?)", self.request.body
        )
        self.set_header("Content-Type", "text/plain")
        self.write("Success")


class StreamHandler(tornado.web.RequestHandler):
    def prepare(self):
        self.gone = asyncio.Event()

    def on_connection_close(self):
        self.gone.set()

    async def get(self):
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("Cache-Control", "no-cache")
        sent_id = 0
        try:
            await self.flush()
            while not self.gone.is_set():
                rows = await self.application.database.run(
                    "SELECT id, body FROM events WHERE id > ? ORDER BY id", sent_id
                )
                if rows:
                    sent_id, body = rows[0]
                    self.write(sse_message(body))
                    await self.flush()
                try:
                    await asyncio.wait_for(self.gone.wait(), POLL_INTERVAL_S)
                except asyncio.TimeoutError:
                    pass
        except tornado.iostream.StreamClosedError:
            pass


def sse_message(body):
    """One `data:` field for each line of the body."""
    return b"".join(b"data: %s\n" % line for line in LINE_END.split(body)) + b"\n"


async def serve(port, database_path):
    application = tornado.web.Application([("/", EventHandler), ("/stream", StreamHandler)])
    application.database = Database(database_path)
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(tornado.netutil.bind_sockets(port, "127.0.0.1", backlog=LISTEN_BACKLOG))

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    server.stop()
    application.database.close()
    await server.close_all_connections()


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("usage: python server.py PORT DB_PATH")
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
