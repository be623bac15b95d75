"""The exam page's thinking parts, each alone in a real browser: when to retry, what time it is, what equal answers are, what is kept.

They are served from the tree at an address nobody else answers; no server and no network is involved.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from exams.canonical import canonical_answers
from exams.grading.numerals import read_numeral

STATIC = Path(__file__).resolve().parents[2] / "exams" / "static"
ORIGIN = "http://modules.test"

Run = Callable[..., Any]


@pytest.fixture
def blank_page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.route(f"{ORIGIN}/**", _serve)
    page = context.new_page()
    page.goto(f"{ORIGIN}/")
    yield page
    context.close()


@pytest.fixture
def run(blank_page: Page) -> Run:
    """Return `run(module, function body, argument)`: the body sees the module as `m` and the argument as `given`."""

    def run(module: str, body: str, given: Any = None) -> Any:
        code = f"""async (given) => {{
            const m = await import("{ORIGIN}/exams/sitting/{module}.js");
            {body}
        }}"""
        return blank_page.evaluate(code, given)

    return run


def _serve(route: Route) -> None:
    path = STATIC / route.request.url.removeprefix(f"{ORIGIN}/")
    if path.is_file():
        route.fulfill(path=path, content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")


FAIL_FOR_AN_HOUR = """
    let now = 0;
    const retries = new m.Retries({ now: () => now, random: () => given.random });
    const begun = [];
    while (now < 3_600_000) {
        begun.push(now);
        retries.began();
        now += retries.failed({ retryAfterSeconds: given.retryAfter ?? 0 });
    }
    return begun;
"""


@pytest.mark.parametrize("random", [0, 0.5, 0.999])
def test_retries_begin_at_most_three_times_in_any_minute(run: Run, random: float) -> None:
    begun = run("retries", FAIL_FOR_AN_HOUR, {"random": random})
    crowded = [start for start in begun if sum(start <= other < start + 60_000 for other in begun) > 3]
    assert crowded == []


@pytest.mark.parametrize("random", [0, 0.999])
def test_retries_grow_apart_and_never_give_up(run: Run, random: float) -> None:
    gaps = run(
        "retries",
        "return [1, 2, 3, 4, 5, 6, 20].map((failures) => m.growingGap(failures, () => given));",
        random,
    )
    assert gaps == sorted(gaps)
    assert gaps[0] >= 2_000
    assert gaps[-1] <= 60_000


def test_retries_never_come_before_retry_after(run: Run) -> None:
    begun = run("retries", FAIL_FOR_AN_HOUR, {"random": 0, "retryAfter": 90})
    gaps = [later - earlier for earlier, later in itertools.pairwise(begun)]
    assert min(gaps) >= 90_000


def test_retries_forget_the_failures_after_a_success(run: Run) -> None:
    first, later, after_success = run(
        "retries",
        """
        const retries = new m.Retries({ now: () => 0, random: () => 0 });
        const first = retries.failed();
        const later = retries.failed();
        retries.succeeded();
        return [first, later, retries.failed()];
        """,
    )
    assert (first, later, after_success) == (2_000, 4_000, 2_000)


@pytest.mark.parametrize(
    ("tries", "at", "expected"), [(1, 0, True), (3, 0, False), (3, 59_999, False), (3, 60_000, True)]
)
def test_a_persons_try_now_is_obeyed_within_the_budget(
    run: Run, tries: int, at: int, *, expected: bool
) -> None:
    may = run(
        "retries",
        """
        let now = 0;
        const retries = new m.Retries({ now: () => now, random: () => 0 });
        for (let n = 0; n < given.tries; n++) retries.began();
        now = given.at;
        return retries.mayHurry();
        """,
        {"tries": tries, "at": at},
    )
    assert may is expected


CLOCK = """
    const real = { monotonic: 1_000, wall: 5_000_000 };
    const clock = new m.ServerClock({ monotonic: () => real.monotonic, wall: () => real.wall });
    const pass = (ms) => { real.monotonic += ms; real.wall += ms; };
    const iso = (ms) => new Date(ms).toISOString();
"""


def test_the_clock_follows_the_server_whatever_the_device_says(run: Run) -> None:
    shown = run(
        "server-clock",
        CLOCK
        + """
        clock.sync(iso(900_000), 1_000, 1_000);
        pass(2_500);
        return [clock.now(), clock.isDoubtful()];
        """,
    )
    assert shown == [902_500, False]


def test_the_clock_takes_the_middle_of_the_round_trip_and_keeps_the_better_sample(run: Run) -> None:
    shown = run(
        "server-clock",
        CLOCK
        + """
        pass(400);
        clock.sync(iso(900_000), 1_000, 1_400);      // half of 400 ms on the way back: 900,200 now
        const first = clock.now();
        clock.sync(iso(900_000), 200, 1_400);        // a slower answer knows less
        const second = clock.now();
        clock.sync(iso(900_100), 1_300, 1_400);      // a faster one knows more: 900,150 now
        return [first, second, clock.now()];
        """,
    )
    assert shown == [900_200, 900_200, 900_150]


@pytest.mark.parametrize("jump", [3_600_000, -3_600_000])
def test_the_clock_is_doubtful_after_sleep_or_a_changed_device_clock_until_the_next_answer(
    run: Run, jump: int
) -> None:
    states = run(
        "server-clock",
        CLOCK
        + """
        const states = [clock.isDoubtful()];
        clock.sync(iso(900_000), 1_000, 1_000);
        states.push(clock.isDoubtful());
        real.wall += given;
        states.push(clock.isDoubtful());
        clock.sync(iso(950_000), 1_000, 1_000);
        states.push(clock.isDoubtful(), clock.now());
        return states;
        """,
        jump,
    )
    assert states == [True, False, True, False, 950_000]


SAMPLES: list[dict[str, Any]] = [
    {},
    {"a": None},
    {"a": ""},
    {"a": []},
    {"a": {}},
    {"a": " "},
    {"a": "2"},
    {"a": 2},
    {"a": True},
    {"a": "true"},
    {"a": ["x", "y"]},
    {"a": ["y", "x", "x"]},
    {"a": {"p": "1", "q": "2"}},
    {"a": {"q": "2", "p": "1"}},
    {"a": "x", "b": "y"},
    {"b": "y", "a": "x"},
    {"a": "é"},
    {"a": "e\u0301"},
    {"b": "y"},
]


def test_the_page_and_the_server_agree_on_which_answers_are_equal(run: Run) -> None:
    """The page decides with this whether work is saved; the server decides with it whether a submission is a repeat."""
    equal_here = [
        [canonical_answers(one) == canonical_answers(other) for other in SAMPLES] for one in SAMPLES
    ]
    equal_there = run(
        "answers", "return given.map((one) => given.map((other) => m.sameAnswers(one, other)));", SAMPLES
    )
    assert equal_there == equal_here


NUMERALS = [
    "3.14",
    "3,14",
    " 42 ",
    "\u22125",
    "-5",
    "+5",
    "1,234",
    ".5",
    "5.",
    "1.5e3",
    "1E-3",
    "\u0663\u066b\u0665",
    "0" * 50,
]
NO_NUMERALS = [
    "",
    " ",
    ".",
    "-",
    "1 000",
    "1.000,5",
    "5 %",
    "1/2",
    "1e31",
    "e3",
    "5 cm",
    "NaN",
    "Infinity",
    "0x1f",
    "0" * 51,
]


def test_the_page_and_the_grader_agree_on_what_is_a_number(run: Run) -> None:
    texts = NUMERALS + NO_NUMERALS
    page_reads = run("numbers", "return given.map((text) => m.readNumber(text) !== null);", texts)
    assert page_reads == [read_numeral(text) is not None for text in texts]
    assert page_reads == [True] * len(NUMERALS) + [False] * len(NO_NUMERALS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nothing"),
        ("3.14", "nothing"),
        ("3,14", "read"),
        ("1,234", "read"),
        ("1 000", "unreadable"),
        ("5 cm", "unreadable"),
    ],
)
def test_a_number_is_told_back_only_where_its_spelling_leaves_a_doubt(run: Run, text: str, told: str) -> None:
    assert run("numbers", "return m.readingOf(given);", text) == told


def test_text_the_server_cannot_keep_is_cleaned_before_it_is_sent(run: Run) -> None:
    cleaned = run(
        "answers",
        r'return ["a\0b", "half \ud83d pair", "\ude00", "whole \ud83d\ude00", "\u202e\u05d0"].map(m.cleanText);',
    )
    assert cleaned == ["ab", "half \ufffd pair", "\ufffd", "whole 😀", "\u202e\u05d0"]


def test_blanks_alone_are_no_answer_to_the_navigator(run: Run) -> None:
    answered = run(
        "answers", "return given.map(m.isAnswered);", ["  \n", "x", False, 0, [], ["x"], {}, {"p": "1"}, None]
    )
    assert answered == [False, True, True, True, False, True, False, True, False]


def test_differing_questions_are_named(run: Run) -> None:
    ids = run(
        "answers",
        "return m.differingIds(given[0], given[1]);",
        [
            {"same": ["a", "b"], "changed": "x", "gone": "1", "blank": ""},
            {"same": ["b", "a"], "changed": "y"},
        ],
    )
    assert ids == ["changed", "gone"]


KEPT = """
    const work = (page, attempt = "att", owner = "me") => new m.KeptWork({ storage: localStorage, owner, attempt, page });
"""


def test_two_pages_keep_their_work_apart_and_both_are_found(run: Run) -> None:
    found = run(
        "kept-work",
        KEPT
        + """
        work("one").keep({ answers: { q: "first" }, token: "t" });
        work("two").keep({ answers: { q: "second" }, token: "t" });
        work("three", "other attempt").keep({ answers: { q: "elsewhere" } });
        work("four", "att", "somebody else").keep({ answers: { q: "not mine" } });
        return work("new").left().map((record) => record.answers.q).sort();
        """,
    )
    assert found == ["first", "second"]


def test_forgetting_one_page_leaves_the_other_and_the_end_leaves_nothing(run: Run) -> None:
    counts = run(
        "kept-work",
        KEPT
        + """
        work("one").keep({ answers: { q: "first" } });
        work("two").keep({ answers: { q: "second" } });
        work("one").forget();
        const afterOne = work("new").left().length;
        work("two").setAside({ q: "third" });
        work("new").forgetAll();
        return [afterOne, localStorage.length];
        """,
    )
    assert counts == [1, 0]


def test_a_browser_that_cannot_keep_anything_says_so(run: Run) -> None:
    kept = run(
        "kept-work",
        """
        const full = { setItem() { throw new DOMException("full", "QuotaExceededError"); } };
        const parts = { owner: "me", attempt: "att", page: "one" };
        return [full, null].map((storage) => new m.KeptWork({ ...parts, storage }).keep({ answers: {} }));
        """,
    )
    assert kept == [False, False]


def test_work_nobody_came_back_for_is_removed_after_a_month(run: Run) -> None:
    left = run(
        "kept-work",
        KEPT
        + """
        work("one").keep({ answers: { q: "x" } });
        localStorage.setItem("handover.sitting.broken", "{");
        localStorage.setItem("unrelated", "stays");
        const day = 24 * 3600 * 1000;
        m.forgetOld(localStorage, Date.now() + 29 * day);
        const young = work("new").left().length;
        m.forgetOld(localStorage, Date.now() + 31 * day);
        return [young, Object.keys(localStorage)];
        """,
    )
    assert left == [1, ["unrelated"]]


DRAFT = {"token": "t2", "answers": {"q": "saved"}, "saved_at": "2026-11-29T10:00:00.000+02:00"}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(
            {"answers": {"q": "newer"}, "token": "t2"},
            {"answers": {"q": "newer"}, "restored": True, "others": 0, "settled": 0},
            id="it goes on from the draft",
        ),
        pytest.param(
            {"answers": {"q": "newer"}, "token": "t1", "unconfirmed": [{"q": "saved"}]},
            {"answers": {"q": "newer"}, "restored": True, "others": 0, "settled": 0},
            id="the draft is its own save whose answer was lost",
        ),
        pytest.param(
            {"answers": {"q": "older"}, "token": "t1"},
            {"answers": {"q": "saved"}, "restored": False, "others": 1, "settled": 0},
            id="another page saved after it",
        ),
        pytest.param(
            {"answers": {"q": "saved"}, "token": "t1"},
            {"answers": {"q": "saved"}, "restored": False, "others": 0, "settled": 1},
            id="the server has it",
        ),
        pytest.param(
            {"answers": {"q": "saved"}, "token": "t2", "submitting": True},
            {"answers": {"q": "saved"}, "restored": True, "others": 0, "settled": 0},
            id="Submit was pressed",
        ),
    ],
)
def test_a_loaded_page_starts_from_the_right_answers(
    run: Run, record: dict[str, Any], expected: dict[str, Any]
) -> None:
    start = run(
        "restoring",
        """
        const start = m.chooseStart(given.draft, [given.record]);
        return {
            answers: start.answers, restored: Boolean(start.restored),
            others: start.others.length, settled: start.settled.length,
        };
        """,
        {"draft": DRAFT, "record": record},
    )
    assert start == expected


@pytest.mark.parametrize(
    ("zone", "shown"),
    [("Europe/Helsinki", "01:30:05"), ("America/New_York", "18:30:05"), ("UTC", "23:30:05")],
)
def test_times_of_day_are_the_schools(run: Run, zone: str, shown: str) -> None:
    told = run(
        "school-time",
        'm.useZone(given); return [m.timeOfDay("2026-11-29T23:30:05.250Z"), m.timeOfDay("2026-11-30T01:30:05.250+02:00")];',
        zone,
    )
    assert told == [shown, shown]


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (5_025_000, "1:23:45"),
        (3_600_000, "1:00:00"),
        (599_001, "10:00"),
        (59_000, "0:59"),
        (1, "0:01"),
        (-5, "0:00"),
    ],
)
def test_time_left_is_shown_in_whole_seconds(run: Run, milliseconds: int, shown: str) -> None:
    assert json.loads(run("countdown", "return JSON.stringify(m.timeLeft(given));", milliseconds)) == shown
