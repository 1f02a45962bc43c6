"""The operators' admin site: who is here, what runs. Nothing here shows a secret or a memory.

Where a change would break an invariant (roles, tokens, jobs), rows are only read, and the few acts
operators need go through the actions everybody uses. Signing in goes through allauth, so that its
limits and second factors hold here too. A superuser's request sees past the second wall.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any
from uuid import UUID

from allauth.account.decorators import secure_admin_login
from allauth.account.views import logout as sign_out
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils import timezone

from accounts import free_texts, live, tenancy
from accounts.actions import organizations
from accounts.errors import InvalidInput
from accounts.models import Invitation, Job, Membership, Organization, Plan, Token, Usage, User

admin.site.site_header = admin.site.site_title = "Cairn"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.logout = sign_out  # type: ignore[method-assign]  # one way out, which also calls pages
for _name in ("allauth.mfa", "allauth.socialaccount", "django.contrib.auth"):
    import_module(f"{_name}.admin")  # registered before they can be removed
HOLD_SECRETS = (Authenticator, SocialApp, SocialToken)
UNUSED = (Group, SocialAccount)
admin.site.unregister((*HOLD_SECRETS, *UNUSED))


class Scanned(ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """A form whose texts may hold no secret, as everywhere else."""

    def clean(self) -> dict[str, Any]:
        """Refuse a field that holds what looks like a secret, without repeating it."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        texts = {name: value for name, value in values.items() if isinstance(value, str)}
        try:
            free_texts.check(texts=texts)
        except InvalidInput as error:
            sent = dict(self.data.items())
            for fault in error.errors:
                self.add_error(fault.pointer, f"{fault.detail} {error.hint}")
                sent[fault.pointer] = free_texts.masked(text=texts[fault.pointer])
            self.data = sent
        return values


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """Rows that are looked at and not edited."""

    form = Scanned

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Editable(ReadOnly):
    """Rows of which some fields are edited; they are made and ended elsewhere."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Operators with the right change the fields that are not read-only."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)


@admin.register(User)
class UserAdmin(Editable):
    """People. Making one inactive ends their sessions and tokens at once."""

    list_display = ("email", "name", "is_active", "is_staff", "date_joined")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "name")
    fields = ("email", "name", "language", "is_active", "is_staff", "is_superuser", "date_joined")
    readonly_fields = ("email", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:  # type: ignore[type-arg]
        """Store a person, and call their open pages to look at their rights again."""
        super().save_model(request, obj, form, change)
        organizations.note_person(
            operator_id=_operator(request), user_id=obj.pk, fields=tuple(form.changed_data)
        )
        live.wake_pages_of(user_id=obj.pk)


@admin.register(Organization)
class OrganizationAdmin(Editable):
    """Organizations and their plans."""

    list_display = ("slug", "name", "personal", "ready", "schema_version", "plan", "created_at")
    list_filter = ("ready", "personal", "plan")
    search_fields = ("slug", "name")
    fields = ("id", "slug", "name", "language", "plan", "schema_name", "schema_version", "ready")
    readonly_fields = ("id", "slug", "schema_name", "schema_version", "ready")

    def save_model(
        self,
        request: HttpRequest,
        obj: Organization,
        form: ModelForm,  # type: ignore[type-arg]
        change: bool,
    ) -> None:
        """Store an organization, and tell its audit log."""
        super().save_model(request, obj, form, change)
        organizations.note_organization(
            operator_id=_operator(request), organization=obj, fields=tuple(form.changed_data)
        )


@admin.register(Plan)
class PlanAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Limits; an empty one is none."""

    form = Scanned
    list_display = ("name", "memories", "projects", "members", "requests_per_minute")


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    """Who belongs where; changed by owners and admins on the dashboard."""

    list_display = ("organization", "user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("organization", "user")
    search_fields = ("organization__slug", "user__email")


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    """Who was invited where."""

    list_display = ("organization", "email", "role", "expires_at", "accepted_at", "revoked_at")
    list_select_related = ("organization",)
    search_fields = ("organization__slug", "email")
    exclude = ("digest",)


@admin.register(Token)
class TokenAdmin(ReadOnly):
    """Tokens without what they are checked by."""

    list_display = ("name", "organization", "user", "last_four", "expires_at", "last_used_at")
    list_select_related = ("organization", "user")
    search_fields = ("name", "organization__slug", "user__email")
    exclude = ("digest", "lookup")
    actions = ["revoke"]

    @admin.action(description="Revoke at once")
    def revoke(self, request: HttpRequest, rows: QuerySet[Token]) -> None:
        """End the selected tokens."""
        ended = organizations.revoke_tokens(
            operator_id=_operator(request),
            token_ids=tuple(rows.values_list("id", flat=True)),
            now=timezone.now(),
        )
        self.message_user(request, f"{ended} revoked.", messages.SUCCESS)


@admin.register(Job)
class JobAdmin(ReadOnly):
    """Background work without its payload."""

    list_display = ("name", "organization", "state", "attempts", "created_at", "finished_at")
    list_filter = ("state", "queue", "name")
    list_select_related = ("organization",)
    search_fields = ("id", "organization__slug")
    exclude = ("payload",)
    actions = ["retry"]

    @admin.action(description="Run again")
    def retry(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        """Queue the selected jobs that have ended without success again."""
        again = organizations.retry_jobs(
            operator_id=_operator(request), job_ids=tuple(rows.values_list("id", flat=True))
        )
        self.message_user(request, f"{again} queued again.", messages.SUCCESS)


@admin.register(Usage)
class UsageAdmin(ReadOnly):
    """What organizations used."""

    list_display = ("organization", "month", "kind", "amount")
    list_select_related = ("organization",)


def _operator(request: HttpRequest) -> UUID:
    person: Any = request.user
    operator_id: UUID = person.pk
    return operator_id


def _operated(
    guarded: Callable[..., Callable[..., HttpResponse]],
) -> Callable[..., Callable[..., HttpResponse]]:
    """Let the site's views, and the pages they fill, see the rows of all organizations."""

    def guard(view: Callable[..., HttpResponse], cacheable: bool = False) -> Any:
        inner = guarded(view, cacheable)

        @wraps(inner)
        def seeing(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_superuser:
                return inner(request, *args, **kwargs)
            with tenancy.operating():
                response = inner(request, *args, **kwargs)
                if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
                    return response.render()
                return response

        return seeing

    return guard


admin.site.admin_view = _operated(admin.site.admin_view)  # type: ignore[method-assign, assignment]
