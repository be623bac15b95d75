"""Every endpoint of the API, from the URL configuration itself."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver


def list_endpoints() -> Iterator[tuple[str, str]]:
    """Yield method and route of every view below `/api/v1/`, from the URL configuration itself."""
    for route, pattern in walk(get_resolver(), ""):
        view = getattr(pattern.callback, "cls", None)
        if route.startswith("api/v1/") and view is not None:
            for method in set(view.http_method_names) - {"head", "options", "trace"}:
                if hasattr(view, method):
                    yield method.upper(), route.removeprefix("api/v1/")


def walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern, route)
        else:
            yield route, pattern
