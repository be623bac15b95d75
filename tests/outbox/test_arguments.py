"""Arguments from a command line that mean nothing: one line that says so, before anything is done."""

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon", "1e400"])
def test_worker_refuses_a_patience_that_is_none(text: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("run_worker", "--once", f"--batch-seconds={text}")
    assert str(refused.value).endswith(
        f"argument --batch-seconds: {text!r} is not a number of seconds above 0"
    )


@pytest.mark.parametrize(
    "words", [("consumers", "release", "marksheet_history", "\udcff"), ("grant_app_role", "--role=\udcff")]
)
def test_argument_that_is_not_utf8_is_refused_before_the_database_is_asked(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"'\\udcff' is not UTF-8"):
        call_command(*words)
