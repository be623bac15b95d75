"""/metrics: what it shows and to whom; and the table in the documents is what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from prometheus_client import parser
from prometheus_client.metrics_core import Metric
from pytest_django import DjangoAssertNumQueries, Settings

from config.metrics.counted import list_counted
from config.metrics.figures import figures, read_figures
from config.metrics.meters import METERS
from config.metrics.sharing import forget_process, share_counters
from exams.gate.admission import count_shed
from exams.gate.meters import SHED
from exams.models import Attempt
from outbox.log.sequencer import sequence_events
from outbox.models import DeadLetter, EffectReceipt
from tests.outbox.queue.burying import bury
from tests.sitting import hand_in

ROOT = Path(__file__).resolve().parents[2]
ONLY_WITH_QUORUM = {"handover_acknowledging", "handover_standbys_needed", "handover_standbys_streaming"}

pytestmark = pytest.mark.django_db(transaction=True)


def scrape(client: Client) -> dict[str, Metric]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {family.name: family for family in parser.text_string_to_metric_families(answer.content.decode())}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    (found,) = [sample.value for sample in families[name].samples if sample.labels == labels]
    return found


def list_documented() -> set[tuple[str, tuple[str, ...]]]:
    """The meters in docs/operations.md, with their labels."""
    text = (ROOT / "docs" / "operations.md").read_text()
    rows = re.findall(r"^\| `(handover_\w+)(?:\{(.*?)\})?` \|", text, flags=re.MULTILINE)
    return {(name, tuple(labels.split(", ")) if labels else ()) for name, labels in rows}


def name_as_documented(metric: Metric) -> tuple[str, tuple[str, ...]]:
    """A counter as its sample is called; a histogram by its own name, without the bounds that Prometheus adds as a label."""
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    return name, tuple(label for label in metric.samples[0].labels if label != "le")


def test_metrics_are_those_of_the_documents() -> None:
    SHED.labels("status").inc(0)
    counted = {name_as_documented(metric) for metric in list_counted()}
    shown = {(name, ()) for name in ("handover_database_up", *ONLY_WITH_QUORUM)} | counted
    assert list_documented() == shown | {(meter.name, meter.labels) for meter in METERS}


def test_metrics_each_say_what_they_mean(client: Client) -> None:
    families = scrape(client)
    assert {name for name, family in families.items() if not family.documentation.endswith(".")} == set()
    assert {meter.name for meter in METERS} - set(families) == set()


def test_metrics_show_what_waits(client: Client, attempt: Attempt) -> None:
    hand_in(attempt)
    families = scrape(client)
    assert value(families, "handover_database_up") == 1
    assert value(families, "handover_jobs_ready", lane="fresh") == 1
    assert value(families, "handover_jobs_ready", lane="backlog") == 0
    assert value(families, "handover_job_oldest_age_seconds", lane="fresh") > 0
    assert value(families, "handover_sequencer_lag_seconds") > 0
    assert value(families, "handover_consumer_staleness_seconds", consumer="gradebook_marks") > 0
    assert value(families, "handover_relay_age_seconds") > 0
    assert value(families, "handover_role_alive", role="worker") == 0


def test_metrics_show_no_sequencer_lag_once_everything_is_numbered(client: Client, attempt: Attempt) -> None:
    hand_in(attempt)
    sequence_events()
    families = scrape(client)
    assert value(families, "handover_sequencer_lag_seconds") == 0
    assert value(families, "handover_consumer_staleness_seconds", consumer="gradebook_marks") > 0


def test_metrics_show_dead_letters_and_failed_effects(client: Client, attempt: Attempt) -> None:
    bury(2)
    for state in ("failed", "refused", "refused"):
        EffectReceipt.objects.create(
            event_id=uuid4(), effect="mail", pos=1, state=state, ended_at="2026-01-01T00:00Z"
        )
    families = scrape(client)
    assert value(families, "handover_dead_letters") == 2
    assert value(families, "handover_dead_letter_oldest_age_seconds") > 0
    assert value(families, "handover_effects", effect="mail", state="failed") == 1
    assert value(families, "handover_effects", effect="mail", state="refused") == 2
    assert value(families, "handover_effect_oldest_age_seconds", effect="mail") == 0


def test_metrics_ask_the_database_once_in_a_while(client: Client) -> None:
    assert value(scrape(client), "handover_dead_letters") == 0
    bury(2)
    assert value(scrape(client), "handover_dead_letters") == 0
    figures.forget()
    assert value(scrape(client), "handover_dead_letters") == 2


def test_figures_cost_as_many_queries_for_three_as_for_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for dead in (1, 3):
        DeadLetter.objects.all().delete()
        bury(dead)
        with django_assert_num_queries(10):
            read_figures()


def test_metrics_say_that_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    connection.close()
    families = scrape(client)
    assert value(families, "handover_database_up") == 0
    assert set(families) & {meter.name for meter in METERS} == set()
    assert "handover_gate_cancelled_waits" in families


def test_metrics_count_what_was_turned_away(client: Client) -> None:
    count_shed("teaching")
    before = value(scrape(client), "handover_shed", tier="teaching")
    count_shed("teaching")
    count_shed("submit")
    assert value(scrape(client), "handover_shed", tier="teaching") == before + 1


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 200),
        ("", {"X-Forwarded-For": "127.0.0.1"}, 200),
        ("", {}, 404),
        ("192.0.2.7", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1, 192.0.2.7"}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "unknown"}, 404),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.7"}, 404),
        ("127.0.0.1", {"Authorization": "Bearer "}, 200),
    ],
)
def test_metrics_are_for_this_machine_when_there_is_no_token(
    client: Client, peer: str, headers: dict[str, str], status: int
) -> None:
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=peer).status_code == status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer open sesame", 200),
        ("bearer open sesame", 200),
        ("Bearer open", 404),
        ("Basic open sesame", 404),
        ("", 404),
    ],
)
def test_metrics_ask_for_the_token_when_there_is_one(
    client: Client, settings: Settings, authorization: str, status: int
) -> None:
    settings.METRICS_TOKEN = "open sesame"
    headers = {"Authorization": authorization}
    assert client.get("/metrics", headers=headers, REMOTE_ADDR="192.0.2.7").status_code == status
    assert client.get("/metrics", REMOTE_ADDR="127.0.0.1").status_code == 404


def test_metrics_take_no_other_method(client: Client) -> None:
    assert client.post("/metrics").status_code == 405


COUNTS_IN_TWO_PROCESSES = """
import os, sys
from pathlib import Path
from config.metrics.sharing import share_counters
share_counters(Path(sys.argv[1]))
for count in (2, 3):
    child = os.fork()
    if not child:
        import exams.gate.meters as meters
        meters.CANCELLED_WAITS.inc(count)
        meters.GROUP_SIZE.observe(count)
        os._exit(0)
    os.waitpid(child, 0)
from config.metrics.counted import list_counted
samples = {sample.name: sample.value for metric in list_counted() for sample in metric.samples}
print(samples["handover_gate_cancelled_waits_total"], samples["handover_gate_group_size_sum"])
"""


def test_counters_of_several_processes_are_added_up_and_outlive_them(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", COUNTS_IN_TWO_PROCESSES, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "5.0 5.0"


def test_files_of_an_earlier_run_are_removed_and_those_of_living_processes_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    kept, dropped = tmp_path / f"counter_{os.getpid()}.db", tmp_path / f"counter_{gone.pid}.db"
    for file in (kept, dropped):
        file.touch()
    share_counters(tmp_path)
    assert list(tmp_path.iterdir()) == [kept]


def test_process_that_ended_holds_nothing_any_more_but_its_counts_stay(tmp_path: Path) -> None:
    names = ("counter_7.db", "gauge_livesum_7.db", "gauge_livesum_77.db", "histogram_7.db")
    for name in names:
        (tmp_path / name).touch()
    forget_process(tmp_path, 7)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted({*names} - {"gauge_livesum_7.db"})
