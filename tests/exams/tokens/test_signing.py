"""Bearer tokens: who they name, how long they live, which keys count, and that a forged one is refused."""

import datetime as dt
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import jwt
import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from exams import tokens
from exams.errors import InvalidToken
from gradebook.models import User
from tests import factories

OLD_KEY = {"2026-a": b"a" * 64}
NEW_KEY = {"2026-b": b"b" * 64}
pytestmark = pytest.mark.django_db


@pytest.fixture
def person(settings: Settings) -> User:
    settings.TOKEN_KEYS = OLD_KEY
    return factories.student()


def now() -> dt.datetime:
    return dt.datetime.now(tz=dt.UTC)


def segment(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_says_who_its_bearer_is(person: User) -> None:
    moment = now()
    issued = tokens.issue(person, now=moment)

    claims = tokens.verify(issued.access)

    assert claims == tokens.Claims(
        user_id=person.id,
        school_id=person.school_id,
        role="student",
        issued_at=moment.timestamp(),
        expires_at=(moment + dt.timedelta(hours=12)).timestamp(),
        token_id=claims.token_id,
    )
    assert issued.expires_at == moment + dt.timedelta(hours=12)


def test_an_administrators_token_names_no_school(settings: Settings) -> None:
    settings.TOKEN_KEYS = OLD_KEY
    assert tokens.verify(tokens.issue(factories.admin(), now=now()).access).school_id is None


def test_verify_reads_no_database(person: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    access = tokens.issue(person, now=now()).access
    with django_assert_num_queries(0):
        tokens.verify(access)


def test_an_expired_token_is_refused_even_if_it_was_verified_before(person: User, settings: Settings) -> None:
    settings.TOKEN_HOURS = 0.0001
    access = tokens.issue(person, now=now()).access
    tokens.verify(access)
    expired = tokens.issue(person, now=now() - dt.timedelta(seconds=1)).access

    with pytest.raises(InvalidToken, match="expired"):
        tokens.verify(expired)


def test_no_token_outlives_what_is_remembered_of_revocations(person: User, settings: Settings) -> None:
    settings.TOKEN_HOURS = 1000
    moment = now()
    assert tokens.issue(person, now=moment).expires_at == moment + dt.timedelta(hours=24)


def test_a_remembered_token_expires_on_time(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    access = tokens.issue(person, now=now()).access
    claims = tokens.verify(access)
    monkeypatch.setattr("exams.tokens.signing.time.time", lambda: claims.expires_at)

    with pytest.raises(InvalidToken, match="expired"):
        tokens.verify(access)


def test_a_rotated_key_still_verifies_and_the_new_one_signs(person: User, settings: Settings) -> None:
    old = tokens.issue(person, now=now()).access
    settings.TOKEN_KEYS = NEW_KEY | OLD_KEY

    new = tokens.issue(person, now=now()).access

    assert tokens.verify(old).user_id == tokens.verify(new).user_id == person.id
    assert jwt.get_unverified_header(new) == {"alg": "HS256", "kid": "2026-b", "typ": "JWT"}


def test_a_token_of_a_dropped_key_is_refused(person: User, settings: Settings) -> None:
    old = tokens.issue(person, now=now()).access
    tokens.verify(old)
    settings.TOKEN_KEYS = NEW_KEY

    with pytest.raises(InvalidToken):
        tokens.verify(old)


def test_a_changed_payload_is_refused(person: User) -> None:
    header, payload, signature = tokens.issue(person, now=now()).access.split(".")
    facts = json.loads(urlsafe_b64decode(payload + "=="))
    forged = segment(facts | {"role": "admin"})

    with pytest.raises(InvalidToken):
        tokens.verify(f"{header}.{forged}.{signature}")


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "é.ü.ß",
        "\x00",
        "x" * 100_000,
        f"{segment({'alg': 'none', 'typ': 'JWT'})}.{segment({'sub': 'x'})}.",
        f"{segment({'alg': 'none', 'kid': '2026-a', 'typ': 'JWT'})}.{segment({'sub': 'x'})}.",
        jwt.encode({"sub": "x"}, OLD_KEY["2026-a"], algorithm="HS256", headers={"kid": "2026-a"}),
        jwt.encode({"sub": "x"}, OLD_KEY["2026-a"], algorithm="HS512", headers={"kid": "2026-a"}),
        jwt.encode({"sub": "x"}, b"c" * 64, algorithm="HS256", headers={"kid": "2026-a"}),
        jwt.encode({"sub": "x"}, b"c" * 64, algorithm="HS256", headers={"kid": "../../secret_key"}),
        jwt.encode({"sub": "x"}, OLD_KEY["2026-a"], algorithm="HS256"),
    ],
    ids=lambda token: str(ascii(token))[:40],
)
def test_a_forged_token_is_refused(person: User, token: str) -> None:
    with pytest.raises(InvalidToken):
        tokens.verify(token)
