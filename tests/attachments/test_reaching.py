"""Which failures are the storage's, and so "later" to whoever sent a photo; and what stands about them in the log."""

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from exams.attachments.reaching import reaching_storage
from exams.errors import StorageAway, UnsuitableFile

FULL = OSError(28, "No space left on device", "/photos/0a/a-name")
CLOSED = ClientError({"Error": {"Code": "AccessDenied", "Message": "No."}}, "PutObject")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (FULL, "No space left on device"),
        (CLOSED, "An error occurred (AccessDenied) when calling the PutObject operation: No."),
        (
            EndpointConnectionError(endpoint_url="http://photos"),
            'Could not connect to the endpoint URL: "http://photos"',
        ),
    ],
    ids=lambda given: type(given).__name__,
)
def test_failure_of_the_storage_is_a_matter_of_time(
    failure: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(StorageAway) as told, reaching_storage():
        raise failure
    assert told.value.retry_after
    assert [line.getMessage() for line in caplog.records] == [
        f"The storage of photographed answers failed: {words}"
    ]


@pytest.mark.parametrize("failure", [FileNotFoundError(2, "lost"), UnsuitableFile(), ValueError()])
def test_what_no_waiting_mends_is_raised_as_it_is(failure: Exception) -> None:
    with pytest.raises(type(failure)), reaching_storage():
        raise failure
