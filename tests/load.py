"""The load generator: many kept-alive connections and as little Python a request as possible, in a process of its own.

`python -m tests.load PORT FILE --connections 64 --seconds 5 [--rate 2000]` posts the file's requests, each once; with
`--again 503` one that was shed joins the end of the line, with `--patient` not before its Retry-After is over.
Without `--rate` every connection sends its next request when its last one is answered (closed loop: how much?). With it,
requests are due at random moments of that mean rate whatever the server does, and their latency counts from the moment they
were due (open loop: how long?).
"""

import argparse
import contextlib
import dataclasses
import gc
import json
import random
import re
import select
import socket
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import psutil

from config.serving.workers import raise_open_files

# Servers differ in the case of these names. A pattern that begins with plain letters is found several times faster than one in any case.
_LENGTH = re.compile(rb"ength: (\d+)\r")
_RETRY_AFTER = re.compile(rb"etry-[Aa]fter: (\d+)\r")
_SEED = 20261129
_SLOT = 0.01
_LONG_IDLE = 1.0  # seconds; far below those after which a server closes a connection that asks for nothing
_HELLO = b"POST /api/v1/attempts/none/submission HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


@dataclasses.dataclass(frozen=True, slots=True)
class LoadRun:
    """What one run saw: answers by status, how long it took, and latencies in milliseconds.

    `p99_sent_ms` counts from the moment a request was sent, by status; the others from the moment it was due.
    """

    answers: dict[str, int]
    seconds: float
    p50_ms: float
    p99_ms: float
    p99_sent_ms: dict[str, float]

    @classmethod
    def of(cls, report: str) -> Self:
        """Read a run's report."""
        return cls(**json.loads(report))

    def rate(self, status: int) -> float:
        """Return the answers of this status a second; any other answer makes the run worthless."""
        if set(self.answers) != {str(status)}:
            raise RuntimeError(f"Expected only {status}, got {self.answers}.")
        return self.answers[str(status)] / self.seconds


class HungUp(Exception):
    """The server has closed the connection."""


class Client:
    """One connection at a time, one request at a time.

    It begins with a request for nothing. The kernel says "connected" before the server has accepted, and with thousands at once more than
    it will hold for the server: their first request is sent again by TCP after seconds, and the run would be about that.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self.due_at = self.sent_at = self.answered_at = 0.0
        self.request = b""
        self.is_waiting = False
        self.open()

    def open(self) -> None:
        """Connect."""
        self.socket = socket.create_connection(("127.0.0.1", self._port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self.socket.sendall(_HELLO)
        while self.receive() is None:
            pass
        self.answered_at = time.perf_counter()

    def reopen(self) -> None:
        """Connect again where the server has closed a connection that asked for nothing for long, as any client has to.

        A request that crossed with that is sent again. Anybody else the server hangs up on was let down: `ConnectionError`.
        """
        is_waiting = self.is_waiting
        if is_waiting and self.sent_at - self.answered_at < _LONG_IDLE:
            raise ConnectionError("The server hung up.")
        self.socket.close()
        self.open()
        if is_waiting:
            self.send(self.request, self.due_at, self.sent_at)

    def send(self, request: bytes, due_at: float, now: float) -> None:
        """Send a request that was due at this moment."""
        self.due_at, self.sent_at, self.request, self.is_waiting = due_at, now, request, True
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `receive` will say so
            self.socket.sendall(request)

    def receive(self) -> bytes | None:
        """Read what is there; return the answer once it is complete. Raises `HungUp`."""
        try:
            received = self.socket.recv(8192)
        except ConnectionResetError as error:
            raise HungUp from error
        if not received:
            raise HungUp
        if self._received:
            received = self._received + received
        end = received.find(b"\r\n\r\n") + 4
        length = _LENGTH.search(received, 0, end)
        if end < 4 or length is None or len(received) < end + int(length[1]):
            self._received = received
            return None
        self._received = b""
        self.is_waiting = False
        return received


class Backlog:
    """The requests still to be sent, each with how long it has to wait: those that have waited go first.

    They wait in slots of ten milliseconds, sent when their slot is over: a heap of a hundred thousand costs as much as sending does.
    """

    def __init__(self, requests: Iterable[bytes]) -> None:
        self._fresh = deque(requests)
        self._waited: deque[bytes] = deque()
        self._slots: defaultdict[int, list[bytes]] = defaultdict(list)
        self._over = int(time.perf_counter() / _SLOT)  # slots below this one are over

    def add(self, request: bytes, *, due_at: float) -> None:
        """Send this one not before its moment."""
        self._slots[int(due_at / _SLOT)].append(request)

    def append(self, request: bytes) -> None:
        """Send this one when all that are here now have been sent."""
        self._fresh.append(request)

    def take(self, now: float) -> bytes | None:
        """Take the next one, if any may be sent now."""
        while self._over < int(now / _SLOT):
            self._waited.extend(self._slots.pop(self._over, ()))
            self._over += 1
        if self._waited:
            return self._waited.popleft()
        return self._fresh.popleft() if self._fresh else None


class Load:
    """A run in progress."""

    def __init__(
        self,
        port: int,
        connections: int,
        requests: Iterable[bytes],
        *,
        again: Collection[str] = (),
        is_patient: bool = False,
    ) -> None:
        self._poll = select.epoll()  # before the connections: `select` knows descriptors below 1,024 only
        self._clients = {
            client.socket.fileno(): client for client in (Client(port) for _ in range(connections))
        }
        self._requests = Backlog(requests)
        self._again = again
        self._is_patient = is_patient
        for descriptor in self._clients:
            self._poll.register(descriptor, select.EPOLLIN)
        self._idle = list(self._clients.values())
        self._latencies: list[float] = []
        self._by_status: defaultdict[str, list[float]] = defaultdict(list)

    def run(self, seconds: float, rate: float | None) -> LoadRun:
        """Send until the time is over or every request is sent, then wait for the answers still due.

        What nobody was free to send by then is not sent: too much, for some seconds, ends after these.
        """
        begin = time.perf_counter()
        due = _due_times(begin, seconds, rate)
        next_due = next(due, None)
        while next_due is not None or len(self._idle) < len(self._clients):
            next_due = self._send(next_due, due)
            if time.perf_counter() >= begin + seconds:
                next_due = None
            self._collect(self._wait(next_due if self._idle else None))
        return self._report(time.perf_counter() - begin)

    def _send(self, next_due: float | None, due: Iterator[float]) -> float | None:
        """Send what is due, as far as connections are free; return when the next one is due.

        The connection used last goes first, as from a proxy's pool: a load that finds its answers prompt needs few, and their memory is
        still at hand on both sides.
        """
        while next_due is not None and self._idle:
            now = time.perf_counter()
            if next_due > now:
                break
            request = self._requests.take(now)
            if request is None:
                return None
            self._idle.pop().send(request, next_due, now)
            next_due = next(due, None)
        return next_due

    def _wait(self, next_due: float | None) -> float:
        """Sleep until the next request is due, if one is; return how long the next look at the connections may take.

        Where nothing is due, that look is the sleep. A due time needs `select`: epoll itself would round up to a millisecond.
        """
        if next_due is None:
            return 1.0
        rest = next_due - time.perf_counter()
        if rest > 0:
            select.select([self._poll], [], [], rest)
        return 0.0

    def _collect(self, seconds: float) -> None:
        now = None
        for descriptor, _ in self._poll.poll(seconds):
            client = self._clients[descriptor]
            try:
                answer = client.receive()
            except HungUp:
                self._reopen(descriptor, client)
                continue
            if answer is not None:
                client.answered_at = now = now or time.perf_counter()
                status = answer[9:12].decode()
                self._latencies.append(now - client.due_at)
                self._by_status[status].append(now - client.sent_at)
                if status in self._again:
                    self._send_again(client.request, answer, now)
                self._idle.append(client)

    def _reopen(self, descriptor: int, client: Client) -> None:
        del self._clients[descriptor]
        self._poll.unregister(descriptor)
        client.reopen()
        self._clients[client.socket.fileno()] = client
        self._poll.register(client.socket.fileno(), select.EPOLLIN)

    def _send_again(self, request: bytes, answer: bytes, now: float) -> None:
        wait = _RETRY_AFTER.search(answer) if self._is_patient else None
        if wait is None:
            self._requests.append(request)
        else:
            self._requests.add(request, due_at=now + int(wait[1]))

    def _report(self, seconds: float) -> LoadRun:
        ranked = sorted(self._latencies)
        p50, p99 = (_rank(ranked, share) for share in (0.5, 0.99))
        by_status = {status: _rank(sorted(found), 0.99) for status, found in self._by_status.items()}
        answers = {status: len(found) for status, found in self._by_status.items()}
        return LoadRun(answers, seconds, p50, p99, by_status)


def _rank(ranked: Sequence[float], share: float) -> float:
    return ranked[int(share * (len(ranked) - 1))] * 1000


def _due_times(begin: float, seconds: float, rate: float | None) -> Iterator[float]:
    """Yield when each request is due: at once for a closed loop, else with exponential gaps (a Poisson process)."""
    chance = random.Random(_SEED)
    now = begin
    while now < begin + seconds:
        if rate is None:
            now = time.perf_counter()
        else:
            now += chance.expovariate(rate)
        yield now


def write_requests(file: Path, requests: Iterable[tuple[str, str]], body: str) -> None:
    """Write a file for the generator: (path, bearer token) pairs that all post the same body."""
    lines = [body, *(f"{path} {token}" for path, token in requests)]
    file.write_text("\n".join(lines))


def read_requests(file: Path) -> list[bytes]:
    """Return the requests of a file, ready to be sent."""
    body, *lines = file.read_text().splitlines()
    head = (
        "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    )
    size = len(body.encode())
    return [(head.format(*line.split(), size) + body).encode() for line in lines]


def run_load(
    port: int,
    file: Path,
    *,
    connections: int,
    seconds: float,
    rate: float | None = None,
    again: Sequence[str] = (),
    is_patient: bool = False,
    core: int | None = None,
) -> LoadRun:
    """Run the generator as a process, on one processor core if one is named, and return its report."""
    command = [sys.executable, "-m", "tests.load", str(port), str(file)]
    options = ["--connections", str(connections), "--seconds", str(seconds)]
    if rate is not None:
        options += ["--rate", str(rate)]
    if core is not None:
        options += ["--core", str(core)]
    if is_patient:
        options += ["--patient"]
    options += [part for status in again for part in ("--again", status)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"The load generator failed: {done.stderr.strip()}")
    return LoadRun.of(done.stdout)


def main() -> None:
    """Run one load and print its report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("file", type=Path)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float)
    parser.add_argument(
        "--again", action="append", default=[], help="a status after which a request is due again"
    )
    parser.add_argument("--patient", action="store_true", help="not before its Retry-After is over")
    parser.add_argument("--core", type=int)
    given = parser.parse_args()
    raise_open_files()
    if given.core is not None:
        psutil.Process().cpu_affinity([given.core])
    gc.disable()  # nothing here is a cycle, and a look through all of it is a pause that would be taken for the server's
    load = Load(
        given.port,
        given.connections,
        read_requests(given.file),
        again=given.again,
        is_patient=given.patient,
    )
    sys.stdout.write(json.dumps(dataclasses.asdict(load.run(given.seconds, given.rate))) + "\n")


if __name__ == "__main__":
    main()
