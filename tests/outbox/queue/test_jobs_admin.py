"""The queue in the admin: operators read it, nobody writes it, nobody else sees it."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from outbox.models import DeadLetter, FinishedJob, Job, RetryBudget
from outbox.queue.handlers import ClaimedJob, Outcome
from tests import factories
from tests.outbox.queue.workshop import Workshop, claim_batch, number_of, queue, work_on

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = ["joblisting", "finishedjoblisting", "deadletter", "retrybudget"]


def stumble(job: ClaimedJob) -> Outcome:
    raise ValueError("<script>alert(1)</script>")


@pytest.fixture
def rows() -> dict[str, object]:
    """One row of each table; the key of each by its model's name."""
    queue(1)
    work_on(Workshop(), claim_batch())
    queue(1, first=1)
    work_on(Workshop(fate=stumble), claim_batch())
    queue(1, first=2)
    RetryBudget.objects.create(kind="note", tokens=3)
    return {
        "joblisting": Job.objects.get().job_id,
        "finishedjoblisting": FinishedJob.objects.get().job_id,
        "deadletter": DeadLetter.objects.get().pk,
        "retrybudget": "note",
    }


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(factories.admin())
    return client


@pytest.mark.parametrize("model", MODELS)
def test_operator_reads_list_and_row(model: str, rows: dict[str, object], operator: Client) -> None:
    listed = operator.get(reverse(f"admin:outbox_{model}_changelist"))
    shown = operator.get(reverse(f"admin:outbox_{model}_change", args=[rows[model]]))
    assert (listed.status_code, shown.status_code) == (200, 200)
    assert str(rows[model]) in shown.text
    assert "<script>alert" not in listed.text + shown.text


@pytest.mark.parametrize("model", MODELS)
def test_nobody_adds_changes_or_deletes_a_row(model: str, rows: dict[str, object], operator: Client) -> None:
    change, delete = (
        reverse(f"admin:outbox_{model}_{deed}", args=[rows[model]]) for deed in ("change", "delete")
    )
    codes = [
        operator.post(reverse(f"admin:outbox_{model}_add"), {}).status_code,
        operator.post(change, {}).status_code,
        operator.post(delete, {"post": "yes"}).status_code,
    ]
    assert codes == [403, 403, 403]


@pytest.mark.parametrize("model", MODELS)
def test_staff_who_are_no_operators_do_not_see_the_queue(
    model: str, rows: dict[str, object], client: Client
) -> None:
    client.force_login(factories.teacher(is_staff=True))
    assert client.get(reverse(f"admin:outbox_{model}_changelist")).status_code == 403


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("words", ["no id at all", "%00", str(uuid.UUID(int=0))])
def test_any_words_may_be_searched_for(
    model: str, words: str, rows: dict[str, object], operator: Client
) -> None:
    assert operator.get(reverse(f"admin:outbox_{model}_changelist"), {"q": words}).status_code == 200


def test_a_job_is_found_by_its_subject(rows: dict[str, object], operator: Client) -> None:
    queue(1, first=3)
    found = operator.get(
        reverse("admin:outbox_joblisting_changelist"),
        {"q": str(Job.objects.order_by("run_at")[0].subject_id)},
    )
    assert [number_of(job.subject_id) for job in found.context["cl"].result_list] == [2]


def test_the_errors_of_a_dead_letter_are_shown(rows: dict[str, object], operator: Client) -> None:
    shown = operator.get(reverse("admin:outbox_deadletter_change", args=[rows["deadletter"]]))
    assert "&quot;error_class&quot;: &quot;ValueError&quot;" in shown.text
