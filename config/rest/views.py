"""From declared endpoints to views: everything a call goes through, in one place.

credential → scope → organization → limits → strict reading → idempotency → the endpoint's one
function → answer with ETag, cursor and Location. DRF gives the frame (authentication, exceptions);
answers are written straight to bytes, in JSON whatever Accept says: a refusal would be JSON too.

A token names its organization; a session of the dashboard does not, so it needs the header
`X-Cairn-Organization`, which is checked against the memberships, and a CSRF token on writes. Who
calls is decided by `accounts.authentication`, the same for sockets, MCP and pages.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, ClassVar, Final

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from pydantic import BaseModel
from pydantic_core import to_json
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts import audit
from accounts.api import requests
from accounts.api.endpoints import JSON, STRANGER, Answer, Call, Endpoint
from accounts.api.schemas import Resource, check, check_texts, shown_as
from accounts.authentication import caller_from_session, count_try, entered
from accounts.caller import Caller, may
from accounts.errors import FieldError, Forbidden, InvalidInput, Unauthenticated
from config import throttling
from config.rest import idempotency, parsing, problems
from teams.actions import note_agent

ORGANIZATION: Final = "X-Cairn-Organization"


class CallerAuthentication(BaseAuthentication):
    """Makes the Caller of a request; DRF keeps it as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        """Return the caller, or None when the request carries no credential at all."""
        http: HttpRequest = request._request
        address = requests.address_of(
            headers=http.headers, peer=str(http.META.get("REMOTE_ADDR", ""))
        )
        caller = requests.token_caller(
            headers=http.headers, address=address, path=http.path_info, now=datetime.now(UTC)
        )
        caller = caller or _of_session(http)
        return None if caller is None else (caller, caller)

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="cairn"'


def _of_session(http: HttpRequest) -> Caller | None:
    user = getattr(http, "user", None)
    if user is None or not user.is_authenticated:
        return None
    slug = http.headers.get(ORGANIZATION, "")
    if not slug:
        detail = f"Who is signed in must name the organization in {ORGANIZATION}."
        fault = FieldError(pointer=f"/headers/{ORGANIZATION}", detail=detail, code="required")
        raise InvalidInput(detail=detail, hint="Its slug stands in the address.", errors=(fault,))
    _check_csrf(http)
    return caller_from_session(user_id=user.pk, organization_slug=slug)


def _check_csrf(http: HttpRequest) -> None:
    check = CSRFCheck(lambda request: HttpResponse())
    check.process_request(http)
    reason: Any = check.process_view(http, HttpResponse, (), {})
    if reason:
        raise Forbidden(
            detail=f"CSRF check failed: {reason}",
            hint="Send the CSRF cookie's value as X-CSRFToken, or use a token.",
        )


class EndpointView(APIView):
    """All calls of one path."""

    endpoints: ClassVar[Mapping[str, Endpoint]] = {}
    is_public: ClassVar[bool] = False
    authentication_classes = (CallerAuthentication,)
    permission_classes = ()
    renderer_classes = ()

    def get_exception_handler(self) -> Callable[..., HttpResponse | None]:
        """Return what turns refusals into problem documents."""
        return problems.handle

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Answer in JSON whatever Accept says; bodies are written here and not rendered."""
        return None, JSON

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer inside the caller's organization, which is left when the answer stands."""
        self.extra: dict[str, str] = {}
        with ExitStack() as self.inside:
            response = super().dispatch(request, *args, **kwargs)
        for name, value in self.extra.items():
            response.headers[name] = value
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the credential and its scope, enter its organization, count the call."""
        now = datetime.now(UTC)
        if self.is_public:
            count_try(kind="open", address=audit.origin().address, now=now)
            return
        super().initial(request, *args, **kwargs)
        caller: Any = request.auth
        if not isinstance(caller, Caller):
            raise Unauthenticated(
                detail="This call needs a credential.",
                hint="Send Authorization: Bearer crn_… (a token from the dashboard's settings).",
            )
        endpoint = self.endpoints.get(str(request.method))
        scope = None if endpoint is None else endpoint.scope
        if scope is not None and not may(caller=caller, scope=scope):
            raise Forbidden(
                detail=f"This credential has no {scope} scope.",
                hint=f"Create a token with the {scope} scope.",
            )
        self.inside.enter_context(entered(caller))
        note_agent(caller=caller)
        size = 0
        if endpoint is not None and endpoint.weighed:  # of unknown length: the most
            said = parsing.announced(request=request._request)
            size = _largest(endpoint) if said is None else said
        counted = throttling.counter.count(caller=caller, now_seconds=now.timestamp(), size=size)
        self.extra.update(counted)

    def answer(self, request: Request, **path: str) -> HttpResponseBase:
        """Answer one call by its endpoint."""
        endpoint = self.endpoints["GET" if request.method == "HEAD" else str(request.method)]
        http: HttpRequest = request._request
        caller: Any = STRANGER if self.is_public else request.auth
        call = _call(http, endpoint, caller, path)
        key = idempotency.key_of(request=http) if endpoint.idempotent else None
        if key is None:
            found = endpoint.respond(call)
            return _attached(found) if found.filename else _respond(endpoint, call, found)
        return idempotency.once(
            key=key,
            request=http,
            call=call,
            run=lambda: _respond(endpoint, call, endpoint.respond(call)),
        )


def views_of(*, endpoints: tuple[Endpoint, ...]) -> Mapping[str, Any]:
    """Return a view function per path."""
    by_path: dict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in endpoints:
        by_path[endpoint.path][endpoint.method] = endpoint
    return {path: _view_class(methods).as_view() for path, methods in by_path.items()}


def _view_class(methods: dict[str, Endpoint]) -> type[EndpointView]:
    handlers = {method.lower(): EndpointView.answer for method in methods}
    names = [*handlers, "head"] if "GET" in methods else [*handlers]
    (is_public,) = {endpoint.public for endpoint in methods.values()}
    body = {"endpoints": methods, "is_public": is_public, "http_method_names": names, **handlers}
    return type("EndpointView", (EndpointView,), body)


def _call(http: HttpRequest, endpoint: Endpoint, caller: Caller, path: Mapping[str, str]) -> Call:
    query = check_texts(model=endpoint.query, texts=_query(http))
    cursor: str | None = getattr(query, "cursor", None)
    return Call(
        caller=caller,
        now=datetime.now(UTC),
        body=_body(http, endpoint),
        query=query,
        path={name: requests.check_text(text=part, pointer=name) for name, part in path.items()},
        cursor=cursor and parsing.open_sealed(text=cursor, endpoint=endpoint, caller=caller),
        if_version=parsing.named(request=http, edits=endpoint.edits),
        headers=_headers(http, endpoint),
    )


def _headers(http: HttpRequest, endpoint: Endpoint) -> Any:
    """Return the headers that a call declares, empty where none was sent."""
    if endpoint.headers is None:
        return None
    names = [field.alias for field in endpoint.headers.model_fields.values() if field.alias]
    sent = {name: http.headers.get(name, "") for name in names}
    return check_texts(model=endpoint.headers, texts=sent)


def _query(http: HttpRequest) -> dict[str, str]:
    for name in http.GET:
        requests.check_text(text=name, pointer="")
        if len(http.GET.getlist(name)) > 1:
            fault = FieldError(pointer=f"/{name}", detail="Send it once.", code="repeated")
            raise InvalidInput(
                detail=f"The parameter {name[:80]!r} stands there twice.",
                hint="Separate several values by commas.",
                errors=(fault,),
            )
    return http.GET.dict()


def _body(http: HttpRequest, endpoint: Endpoint) -> Any:
    if endpoint.upload:
        return parsing.read_upload(request=http, largest=endpoint.upload)
    if endpoint.body is None:
        return None
    largest = _largest(endpoint)
    if endpoint.lenient:
        value = parsing.read_lenient(request=http, largest=largest)
        return check(model=endpoint.body, value=value)
    media = (JSON, parsing.NDJSON) if endpoint.lines else (JSON,)
    value = parsing.read(request=http, largest=largest, media=media, smaller=endpoint.smaller)
    if endpoint.lines and isinstance(value, list) and http.content_type == parsing.NDJSON:
        value = {endpoint.lines: value}
    return check(model=endpoint.body, value=value)


def _largest(endpoint: Endpoint) -> int:
    usual = parsing.LARGEST_BULK if endpoint.bulk else parsing.LARGEST_BODY
    return endpoint.largest or usual


def _attached(answer: Answer) -> FileResponse:
    """Send a file piece by piece; it is closed with the answer."""
    response = FileResponse(answer.body, status=answer.status or 200, content_type=answer.media)
    response.headers["Content-Disposition"] = f'attachment; filename="{answer.filename}"'
    return response


def _respond(endpoint: Endpoint, call: Call, answer: Answer) -> HttpResponse:
    body, status = answer.body, answer.status or endpoint.status
    if endpoint.paged:
        body = _paged(endpoint, call, answer)
    version, location = answer.version, answer.location
    if endpoint.answer is None:
        content = b"" if status == 204 else problems.to_json(value=body)
    else:
        shown = shown_as(endpoint.answer, body)
        version, location = _place(endpoint, shown, answer, status)
        content = shown.__pydantic_serializer__.to_json(shown, by_alias=True)
    response = HttpResponse(content, status=status, content_type=JSON)
    if version is not None:
        response.headers["ETag"] = parsing.etag(version=version)
    if location:
        response.headers["Location"] = location
    for name, value in answer.headers.items():
        response.headers[name] = value
    return response


def _paged(endpoint: Endpoint, call: Call, answer: Answer) -> dict[str, Any]:
    """Return the body of a page, with the sealed cursor of the one that follows."""
    place = None if answer.following is None else to_json(answer.following).decode()
    sealed = place and parsing.seal(inner=place, endpoint=endpoint, caller=call.caller)
    items = answer.body if isinstance(answer.body, Mapping) else {"items": answer.body}
    return {**items, "next_cursor": sealed}


def _place(
    endpoint: Endpoint, shown: BaseModel, answer: Answer, status: int
) -> tuple[int | None, str]:
    """Return the version that an answer shows, and where what was made is found from now on."""
    resource: Resource | None = getattr(shown, "resource", None)
    if resource is None or not resource.version:
        return answer.version, answer.location
    path = re.sub(r"{[a-z]+}", str(_at(shown, resource.key)), resource.path)
    location = f"/api/v1/{path}" if status == 201 else answer.location
    return _at(shown, resource.version), location


def _at(shown: Any, pointer: str) -> Any:
    """Return what a pointer of attributes leads to."""
    return attrgetter(pointer[1:].replace("/", "."))(shown)
