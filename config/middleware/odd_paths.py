"""An address with a NUL in it names nothing: PostgreSQL has no such text, so no row can be looked up by it."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin


class OddPaths(MiddlewareMixin):
    """Answers 404 where an address holds a NUL, before a view asks the database for it and fails."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> None:
        """Look at the decoded path."""
        if "\0" in request.path:
            raise Http404
