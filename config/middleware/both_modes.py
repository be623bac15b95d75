"""What a middleware needs to stand in Django's synchronous and asynchronous chain alike: under ASGI it must not cost a thread of its own."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

Answer = HttpResponseBase
GetResponse = Callable[[HttpRequest], Answer | Awaitable[Answer]]


class BothModes:
    """Knows which of the two chains it stands in; its `__call__` answers or, where `is_async`, returns what will."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = bool(iscoroutinefunction(get_response))
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer | Awaitable[Answer]:
        """Pass the request on."""
        return self.get_response(request)

    async def get_response_later(self, request: HttpRequest) -> Answer:
        """Return the answer of what stands behind, in the asynchronous chain."""
        response = self.get_response(request)
        assert isinstance(response, Awaitable)
        return await response
