"""S5: hostile bodies by the thousand at the doors of a real server. None is answered with a fault of ours, and it keeps its memory.

In the suite a few hundred; `make chaos` sends 200,000 (`FUZZ_INPUTS`). The seed is printed: the same one sends the same bodies (`FUZZ_SEED`).
"""

import http.client
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import NamedTuple

import psutil
import pytest

from exams.models import Submission
from tests import factories
from tests.posting import Sitting, sitting_of
from tests.serving import WebServer, serving

pytestmark = [pytest.mark.process, pytest.mark.timeout(3_600)]

MANY = int(os.environ.get("FUZZ_INPUTS", "200000"))
SEED = int(os.environ.get("FUZZ_SEED", "20261130"))
PER_STUDENT = 100  # a person may try 30 times at once, and once a second: what is too often is never read
MOST_MEMORY = 300 * 2**20
LARGE = 10 * 2**20

ATOMS = (
    rb'"\u0000"', b'"\x00"', rb'"\ud83d"', rb'"\udf93\ud83c"', b'"\xed\xa0\xbd"', b'"\xff\xfe"', b'"\xe4"', rb'"\ufeff"', b'"\xef\xbb\xbf"',
    b"1e309", b"-1e309", b"1e-999999999", b"0.1e+99999999999999999999", b"-0", b"1" * 60, b"1" * 5_000, b"NaN", b"-Infinity", b"0x1F", b"01", b"1.", b"+1",
    b"null", b"true", b"tru", b'""', b'"', b"'a'", b'"\n"', rb'"\x41"', rb'"\u12"', b"[]", b"{}", b"{", b"]", b",", b":", b"//", b"",
    b'{"__proto__": {}}', b'{"a": 1, "a": 2}', b'{"": ""}', b'"<script>=1+1</script>"', rb'"\u202e\u2028"', "\"\U0001f600\"".encode(),
)  # fmt: skip
TYPES = (
    "application/json", "application/json", "application/json", "application/json; charset=utf-8", "application/json; charset=utf-16",
    "application/json; charset=utf-7", "application/json; charset=nonsense", "application/json; charset=\xff", "text/plain", "", ";", "a/b/c",
    "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x", "application/problem+json",
)  # fmt: skip
HEADERS: tuple[dict[str, str], ...] = (
    {}, {}, {}, {}, {"Content-Encoding": "gzip"}, {"Content-Encoding": "br"}, {"Accept": "application/xml"}, {"Accept": "\xff/*;q=nan"},
    {"Accept-Language": "x" * 2_000}, {"X-Request-ID": "\xff" * 40}, {"If-Match": '"' * 99}, {"Expect": "200-ok"}, {"X-Forwarded-For": "1.2.3.4, ::, x"},
    {"Range": "bytes=9-1"}, {"Cookie": "sessionid=\xff; sessionid="},
)  # fmt: skip


class Told(NamedTuple):
    """What the server said: its status, its problem's code, and the submission that it acknowledged."""

    status: int
    code: str
    submission: str


def _piece(dice: random.Random, depth: int = 0) -> bytes:
    """Return a piece of something like JSON."""
    kind = dice.random()
    if depth > 4 or kind < 0.6:
        return dice.choice(ATOMS)
    parts = [_piece(dice, depth + 1) for _ in range(dice.randrange(4))]
    if kind < 0.8:
        return b"[" + b",".join(parts) + b"]"
    return b"{" + b",".join(dice.choice(ATOMS) + b":" + part for part in parts) + b"}"


def _lawful(dice: random.Random) -> bytes:
    return json.dumps(
        {"answers": {f"q{dice.randrange(9)}": dice.choice(["a", 1.5, ["x", "y"], None])}}
    ).encode()


def _broken(dice: random.Random) -> bytes:
    """Return a lawful body with some of its bytes changed, taken out or doubled."""
    body = bytearray(_lawful(dice))
    for _ in range(dice.randrange(1, 6)):
        place = dice.randrange(len(body))
        body[place : place + dice.randrange(2)] = dice.choice((b"", dice.randbytes(1), dice.choice(ATOMS)))
        if not body:
            break
    return bytes(body)


def _large(dice: random.Random) -> bytes:
    """Return something deep, long, wide, or larger than anybody may send."""
    deep = b"[" * dice.randrange(1, 200_000)
    wide = b"{" + b",".join(b'"%d":%d' % (each, each) for each in range(dice.randrange(1, 5_000))) + b"}"
    long = b'"' + dice.choice((b"x", b"\\u0041", b"\xc3\xa9")) * dice.randrange(1, 250_000) + b'"'
    size = LARGE if dice.random() < 0.02 else dice.randrange(1, 2**20)
    return b'{"answers":{"q":' + dice.choice((deep, wide, long, b'"' + b" " * size + b'"')) + b"}}"


def make_body(dice: random.Random) -> bytes:
    """Return one hostile body."""
    kinds: list[Callable[[random.Random], bytes]] = [
        lambda dice: b'{"answers":{"q":' + _piece(dice) + b"}}",
        lambda dice: b'{"answers":' + _piece(dice) + b',"token":' + _piece(dice) + b"}",
        _piece,
        _broken,
        _lawful,
        lambda dice: dice.randbytes(dice.randrange(300)),
    ]
    return _large(dice) if dice.random() < 0.01 else dice.choice(kinds)(dice)


def make_request(dice: random.Random, sitting: Sitting) -> tuple[str, str, bytes, dict[str, str]]:
    """Return one hostile request: mostly to the gate, which is the door that everybody stands at."""
    doors = [("POST", sitting.path)] * 8 + [
        ("PUT", f"/api/v1/attempts/{sitting.attempt_id}/draft"),
        ("POST", "/api/v1/tokens"),
    ]
    of_type = (
        "application/json" if dice.random() < 0.9 else dice.choice(TYPES)
    )  # else hardly a body would be read
    headers = {"Authorization": f"Bearer {sitting.token}", "Content-Type": of_type}
    return (*dice.choice(doors), make_body(dice), headers | dice.choice(HEADERS))


def _send(port: int, requests: Iterator[tuple[str, str, bytes, dict[str, str]]]) -> Iterator[Told]:
    """Send one after the other over one connection, a new one where the server has closed it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for method, path, body, headers in requests:
        try:
            connection.request(method, path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            connection.close()  # refused before it was all sent: what it said is on its way back no more
            yield Told(413, "too_large", "")
            continue
        answer = connection.getresponse()
        said = answer.read()
        told = json.loads(said) if "json" in answer.headers.get("Content-Type", "") else {}
        yield Told(
            answer.status,
            str(told.get("code", "")),
            str(told.get("id", "")) if answer.status in {200, 202} else "",
        )
        if answer.will_close:
            connection.close()
    connection.close()


def _find_memory(server: WebServer) -> int:
    """Return the memory of the largest of the server's processes."""
    assert server.process is not None
    master = psutil.Process(server.process.pid)
    return max(process.memory_info().rss for process in (master, *master.children(recursive=True)))


@pytest.mark.parametrize("inputs", [600, pytest.param(MANY, marks=pytest.mark.chaos)])
def test_s5_no_body_is_answered_with_a_fault_of_ours(
    transactional_db: None, process_environment: dict[str, str], inputs: int
) -> None:
    dice = random.Random(SEED)
    revision = factories.published_revision()
    sittings = [sitting_of(factories.attempt(revision)) for _ in range(max(20, inputs // PER_STUDENT))]
    with serving(process_environment) as server:
        told = list(
            _send(server.port, (make_request(dice, each) for each in islice(cycle(sittings), inputs)))
        )
        memory = _find_memory(server)
    statuses = Counter(each.status for each in told)
    print(f"\nS5, seed {SEED}: {dict(sorted(statuses.items()))}, {memory / 2**20:.0f} MiB")  # noqa: T201 - the figures
    assert [each for each in told if each.status >= 500] == []
    assert {each.code for each in told if each.status >= 400} - {""} >= {
        "malformed",
        "unsupported_media_type",
    }
    acknowledged = {each.submission for each in told if each.submission and each.status == 202}
    assert {str(key) for key in Submission.objects.values_list("pk", flat=True)} == acknowledged
    assert memory <= MOST_MEMORY
