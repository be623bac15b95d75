"""Drafts: each save continues the last one, and a tab that is out of date overwrites nothing."""

import datetime as dt
import json
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from exams.errors import AttemptClosed, Malformed, NotFound, StaleDraft
from exams.models import Attempt, AttemptState, Draft
from exams.services.drafts import SavedDraft, save_draft
from gradebook.models import User
from tests.exams.crowd import gather
from tests.exams.plans import explain
from tests.exams.together import at_once

MINUTE = dt.timedelta(minutes=1)


def save(attempt: Attempt, answers: dict[str, Any], token: UUID | None = None) -> SavedDraft:
    return save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers=answers, token=token)


def kept(attempt: Attempt) -> tuple[dict[str, Any], UUID]:
    draft = Draft.objects.get(attempt=attempt)
    return json.loads(draft.answers), draft.token


def test_the_first_save_names_no_token(attempt: Attempt) -> None:
    saved = save(attempt, {"q1": "b", "q2": ""})

    draft = Draft.objects.get()
    assert saved == SavedDraft(draft.token, draft.saved_at, "Europe/Helsinki")
    assert draft.answers == '{"q1":"b"}'
    assert dt.datetime.now(tz=dt.UTC) - draft.saved_at < MINUTE


def test_each_save_continues_the_last_one(attempt: Attempt) -> None:
    first = save(attempt, {"q1": "a"})
    second = save(attempt, {"q1": "b"}, first.token)
    third = save(attempt, {"q1": "c"}, second.token)

    assert kept(attempt) == ({"q1": "c"}, third.token)
    assert len({first.token, second.token, third.token}) == 3
    assert first.saved_at < second.saved_at < third.saved_at


@pytest.mark.parametrize("stale", ["an older token", "no token", "a foreign token"])
def test_a_stale_tab_overwrites_nothing_and_is_told_what_is_kept(attempt: Attempt, stale: str) -> None:
    first = save(attempt, {"q1": "a"})
    second = save(attempt, {"q1": "b"}, first.token)
    token = {"an older token": first.token, "no token": None, "a foreign token": uuid7()}[stale]

    with pytest.raises(StaleDraft) as refused:
        save(attempt, {"q1": "mine"}, token)

    assert refused.value.extra["token"] == str(second.token)
    assert dt.datetime.fromisoformat(refused.value.extra["saved_at"]) == second.saved_at.replace(
        microsecond=second.saved_at.microsecond // 1000 * 1000
    )
    assert kept(attempt) == ({"q1": "b"}, second.token)


def test_a_token_is_worth_nothing_where_nothing_was_kept(attempt: Attempt) -> None:
    with pytest.raises(StaleDraft) as refused:
        save(attempt, {"q1": "a"}, uuid7())
    assert refused.value.extra == {"token": None, "saved_at": None}
    assert not Draft.objects.exists()


@pytest.mark.parametrize("first_save", [True, False])
def test_a_save_whose_answer_was_lost_may_be_sent_again(attempt: Attempt, first_save: bool) -> None:
    before = None if first_save else save(attempt, {"q1": "a"}).token
    unheard = save(attempt, {"q1": "b"}, before)

    assert save(attempt, {"q1": "b"}, before) == unheard
    assert kept(attempt) == ({"q1": "b"}, unheard.token)


def test_somebody_elses_attempt_is_not_found(attempt: Attempt, other_student: User) -> None:
    with pytest.raises(NotFound):
        save_draft(attempt_id=attempt.pk, student_id=other_student.pk, answers={"q1": "a"}, token=None)
    assert not Draft.objects.exists()


def test_a_draft_is_kept_through_the_grace_time(attempt: Attempt) -> None:
    now = dt.datetime.now(tz=dt.UTC)
    Attempt.objects.update(closes_at=now - MINUTE, grace_until=now + MINUTE, accepts_until=now + MINUTE)

    save(attempt, {"q1": "a"})

    assert Draft.objects.count() == 1


def test_a_late_draft_does_not_replace_the_punctual_one(attempt: Attempt) -> None:
    punctual = save(attempt, {"q1": "a"})
    now = dt.datetime.now(tz=dt.UTC)
    Attempt.objects.update(closes_at=now - 2 * MINUTE, grace_until=now - MINUTE, accepts_until=now + MINUTE)

    with pytest.raises(AttemptClosed) as refused:
        save(attempt, {"q1": "late"}, punctual.token)

    assert refused.value.extra["state"] == "open"
    assert "Submit is still accepted" in refused.value.detail
    assert kept(attempt) == ({"q1": "a"}, punctual.token)


@pytest.mark.parametrize("state", [state for state in AttemptState if state != AttemptState.OPEN])
def test_nothing_is_kept_for_an_ended_attempt(attempt: Attempt, state: AttemptState) -> None:
    Attempt.objects.update(state=state, ended_at=dt.datetime.now(tz=dt.UTC))

    with pytest.raises(AttemptClosed) as refused:
        save(attempt, {"q1": "a"})

    assert refused.value.extra["state"] == state
    assert not Draft.objects.exists()


def test_answers_that_are_none_are_refused_by_their_place(attempt: Attempt) -> None:
    with pytest.raises(Malformed) as refused:
        save(attempt, {"q1": [1]})
    assert refused.value.pointer == "/answers/q1/0"


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_with_one_token_exactly_one_is_kept(attempt: Attempt) -> None:
    for round_number in range(20):
        before = Draft.objects.filter(attempt=attempt).values_list("token", flat=True).first()
        texts = [f"round {round_number}, tab {tab}" for tab in range(4)]

        outcomes = at_once(*(partial(save, attempt, {"q1": text}, before) for text in texts))

        kept_text, kept_token = kept(attempt)
        assert [type(outcome) for outcome in outcomes].count(StaleDraft) == 3
        assert outcomes[texts.index(kept_text["q1"])].token == kept_token


def test_saving_reads_by_keys_only(attempt: Attempt) -> None:
    gather(attempt)
    parameters = {
        "attempt_id": attempt.pk,
        "student_id": attempt.student_id,
        "answers": "{}",
        "token": uuid7(),
        "next_token": uuid7(),
    }
    assert explain("save_draft", parameters) == {
        "exams_attempt_pkey",
        "exams_draft_pkey",
    }
