"""Webhook endpoints in the admin: setting them up, seeing what came of each try, switching one on again.

For operators; the administrator of one tenant sets up and sees that tenant's own, and the form offers no other.

A secret is shown once, when it is made. Whoever loses it asks for a new one.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import AdminURLFieldWidget
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from outbox.addresses import ForbiddenAddress, as_uri
from outbox.admin.read_only import ReadOnly
from outbox.models import WebhookEndpoint, WebhookTry
from outbox.tenants import list_tenants
from outbox.webhooks import list_offered_kinds
from outbox.webhooks.secrets import OVERLAP, end_old_secrets, make_secret, renew_secret

LATEST = 20
BY_HAND = "By hand."
EVERY_SCHOOL = "All schools"


def _read_id(value: object) -> UUID:
    """Return the id in what was sent, or in what is there."""
    return UUID(str(value))


class EndpointForm(forms.ModelForm[WebhookEndpoint]):
    """Where to call, and of what to tell. With `tenant` it is that one's, whatever is sent."""

    tenant: UUID | None = None

    url = forms.URLField(label="address", max_length=500, assume_scheme="https", widget=AdminURLFieldWidget)
    kinds = forms.MultipleChoiceField(
        label="events", widget=forms.CheckboxSelectMultiple, help_text="The kinds of event it is told of."
    )

    tenant_id = forms.TypedChoiceField(
        label="school",
        coerce=_read_id,
        empty_value=None,
        required=False,
        help_text="Whose events it is told of.",
    )

    class Meta:
        model = WebhookEndpoint
        fields = ["url", "tenant_id", "kinds", "description"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_tenants()
        chosen = self.instance.kinds or []
        self.fields["kinds"].choices = [  # type: ignore[attr-defined]
            (kind, kind) for kind in sorted({*list_offered_kinds(), *chosen})
        ]

    def _offer_tenants(self) -> None:
        """Offer all by name, and one that has no name any more by its id, so that saving the rest does not change whose it is."""
        field, names = self.fields["tenant_id"], {str(pk): name for pk, name in list_tenants()}
        kept = self.tenant or self.instance.tenant_id
        if kept is not None:
            names.setdefault(str(kept), str(kept))
        field.choices = [("", EVERY_SCHOOL), *names.items()]  # type: ignore[attr-defined]
        if self.tenant is not None:
            self.initial["tenant_id"] = self.tenant
            field.disabled = True

    def clean_url(self) -> str:
        """Refuse what can never be called; whether it may be called is judged at each call, by what its name leads to then."""
        try:
            return as_uri(self.cleaned_data["url"])
        except ForbiddenAddress as error:
            raise forms.ValidationError(str(error)) from error


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ModelAdmin[WebhookEndpoint]):
    """The endpoints, those switched off first."""

    form = EndpointForm
    readonly_fields = ["state", "latest_tries"]
    ordering = ["disabled_at", "url"]
    actions = ["switch_on", "switch_off", "renew_secret", "end_old_secret"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        """Return all of them, or those of the one tenant this person administers."""
        endpoints: QuerySet[WebhookEndpoint] = super().get_queryset(request)
        tenant = _tenant_of(request)
        return endpoints if tenant is None else endpoints.filter(tenant_id=tenant)

    def get_form(
        self,
        request: HttpRequest,
        obj: WebhookEndpoint | None = None,
        change: bool = False,  # noqa: FBT001, FBT002 - Django's own signature
        **kwargs: Any,
    ) -> type[EndpointForm]:
        """Return the form as this person may fill it in."""
        form = super().get_form(request, obj, change, **kwargs)
        return type("EndpointForm", (form,), {"tenant": _tenant_of(request)})

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Name the schools: all are read at once."""
        names = dict(list_tenants())

        @admin.display(description="school", ordering="tenant_id")
        def school(endpoint: WebhookEndpoint) -> str:
            tenant_id = endpoint.tenant_id
            return EVERY_SCHOOL if tenant_id is None else names.get(tenant_id, str(tenant_id))

        return ["url", "description", school, "state", "failures_in_a_row"]

    def get_fieldsets(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> Any:
        """Show what came of the tries once there can be any."""
        asked = {"fields": ["url", "tenant_id", "kinds", "description"]}
        return [(None, asked)] + ([("Deliveries", {"fields": self.readonly_fields})] if obj else [])

    def save_model(self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool) -> None:  # noqa: FBT001
        """Give a new endpoint its secret, and show it this once."""
        if not change:
            obj.secret = make_secret()
        super().save_model(request, obj, form, change)
        if not change:
            _show_secret(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Let an endpoint be removed with its log, which nobody may remove alone."""
        deleted, counts, missing, protected = super().get_deleted_objects(objs, request)
        log = {WebhookTry._meta.verbose_name}  # noqa: SLF001 - Django's documented API
        return deleted, counts, missing - log, protected

    @admin.display(description="state")
    def state(self, endpoint: WebhookEndpoint) -> str:
        """Say whether it is called, and if not, why not."""
        if endpoint.disabled_at is not None:
            return f"Switched off. {endpoint.disabled_because}"
        if endpoint.failures_in_a_row:
            return f"Failing: {endpoint.failures_in_a_row} tries in a row.{_write_rest(endpoint)}"
        if endpoint.old_secret_until is not None and endpoint.old_secret_until > timezone.now():
            return f"In use. The old secret signs until {endpoint.old_secret_until:%Y-%m-%d %H:%M} UTC too."
        return "In use."

    @admin.display(description=f"latest {LATEST} tries")
    def latest_tries(self, endpoint: WebhookEndpoint) -> SafeString | str:
        """The end of its delivery log."""
        tries = endpoint.log.order_by("-at")[:LATEST]
        lines = [
            f"{each.at:%Y-%m-%d %H:%M:%S} UTC  {each.kind}  {each.event_id}  try {each.number}  "
            f"{each.status or '-'}  {each.took.total_seconds():.3f} s  {each.error}"
            for each in tries
        ]
        return format_html("<pre>{}</pre>", "\n".join(lines)) if lines else "None yet."

    @admin.action(description="Switch on", permissions=["change"])
    def switch_on(self, request: HttpRequest, chosen: QuerySet[WebhookEndpoint]) -> None:
        """Call them again; what failed meanwhile is tried again by `effects replay` or in the list of effects."""
        count = chosen.filter(disabled_at__isnull=False).update(
            disabled_at=None,
            disabled_because="",
            failures_in_a_row=0,
            first_failure_at=None,
            rests_until=None,
        )
        messages.success(request, f"{count} switched on.")

    @admin.action(description="Switch off", permissions=["change"])
    def switch_off(self, request: HttpRequest, chosen: QuerySet[WebhookEndpoint]) -> None:
        """Call them no more."""
        in_use = chosen.filter(disabled_at__isnull=True)
        count = in_use.update(disabled_at=Now(), disabled_because=BY_HAND)
        messages.success(request, f"{count} switched off.")

    @admin.action(description="Make a new secret", permissions=["change"])
    def renew_secret(self, request: HttpRequest, chosen: QuerySet[WebhookEndpoint]) -> None:
        """Replace their secrets; the old ones sign too for a while, so that nobody has to change over at the same moment."""
        for endpoint in chosen:
            renew_secret(endpoint=endpoint)
            _show_secret(request, endpoint)
        hours = OVERLAP // timedelta(hours=1)
        messages.info(
            request,
            f"For {hours} hours messages are signed with the old secret too. If somebody else has seen it, end it now.",
        )

    @admin.action(description="End the old secret now", permissions=["change"])
    def end_old_secret(self, request: HttpRequest, chosen: QuerySet[WebhookEndpoint]) -> None:
        """Sign with the new one only, from now on."""
        messages.success(request, f"{end_old_secrets(endpoints=chosen)} old secrets ended.")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Say at the top when endpoints were switched off by their failures."""
        off = (
            self.get_queryset(request)
            .filter(disabled_at__isnull=False)
            .exclude(disabled_because=BY_HAND)
            .count()
        )
        if off and request.method == "GET":
            messages.warning(request, f"{off} switched off after failing for a day, or at their own wish.")
        return super().changelist_view(request, extra_context)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whoever may set one up sees them listed."""
        return _may_set_up(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whose events are told sees to whom."""
        return _may_set_up(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Operators set up any: events of all schools pass here. An administrator of one school: that school's."""
        return _may_set_up(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Likewise."""
        return _may_set_up(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Likewise."""
        return _may_set_up(request, obj)


@admin.register(WebhookTry)
class WebhookTryAdmin(ReadOnly[WebhookTry]):
    """The delivery log, the latest first."""

    list_display = ["at", "endpoint", "kind", "event_id", "number", "status", "took", "error"]
    list_select_related = ["endpoint"]
    search_fields = ["event_id__exact"]
    ordering = ["-at"]


def _is_operator(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_operator", False))


def _tenant_of(request: HttpRequest) -> UUID | None:
    """Return the one tenant this person administers; which one, the installation's user model says."""
    tenant: UUID | None = getattr(request.user, "administered_tenant", None)
    return tenant


def _may_set_up(request: HttpRequest, endpoint: Model | None = None) -> bool:
    """Say whether this person has to do with endpoints, or with this one."""
    tenant = _tenant_of(request)
    if tenant is None:
        return _is_operator(request)
    return endpoint is None or getattr(endpoint, "tenant_id", None) == tenant


def _write_rest(endpoint: WebhookEndpoint) -> str:
    until = endpoint.rests_until
    if until is None or until <= timezone.now():
        return ""
    return f" Left alone until {until:%H:%M:%S} UTC."


def _show_secret(request: HttpRequest, endpoint: WebhookEndpoint) -> None:
    messages.warning(request, f"The secret of {endpoint.url}, shown this once: {endpoint.secret}")
