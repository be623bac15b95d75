"""The address of the meters."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from config.health.access import may_see_meters
from config.metrics.exposition import write_exposition


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape; whoever may not see it finds nothing here."""
    if not may_see_meters(request):
        raise Http404
    return HttpResponse(write_exposition(), content_type=CONTENT_TYPE_LATEST)
