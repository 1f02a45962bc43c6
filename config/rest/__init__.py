"""The REST shell: what every call of `/api/v1/` goes through, whatever it asks.

How to declare an endpoint
--------------------------
An endpoint is one function in a module of an app's `api/`, which stands in the list of modules in
`config/urls.py`. Its shapes are pydantic models, beside it or, where MCP uses them too, in
`memory/api/schemas/`.

    class NewTeam(Body):
        \"\"\"A team to make.\"\"\"

        slug: Name = Field(max_length=64, description="Its short name.", examples=["payments"])
        color: Choice[Color] = Field(Color.RED, description="How it is marked.")

    class Team(Result):
        \"\"\"The team.\"\"\"

        resource: ClassVar = Resource("teams/{ref}", "/slug", "/version")
        id: UUID
        slug: str
        version: int

    @post("teams", tag="teams", scope=TokenScope.ADMIN, answer=Team, status=201, idempotent=True)
    def create_team(call: Call, body: NewTeam) -> TeamView:
        \"\"\"Make a team.

        Owners and admins do; who makes it is in it.
        \"\"\"
        return teams.create_team(caller=call.caller, **dict(body))

From it follow: the route, the operation's name (the function's, or `name=`), summary and
description (the docstring), the checks of body, query and headers (the annotations of parameters of
these names), and the answer: what is returned is shown as the model `answer`, by the names of its
attributes. A list is `Items[Team]`, and a tuple of values may be returned for it. A page is
`Page[Team]`; its query extends `PageQuery`, and `Answer(items, following=place)` is returned,
where `call.after(Place)` is the place of the cursor that was sent. `Answer` also says a version or
a place that a `Resource` of the answer does not give, another status, headers, or a file.

What callers send is a `Body`, `Changes` (PATCH: `body.sent`, or `body.changed()` where nothing may
not be sent), `Query` or `Headers`. Their types are named in `accounts.api.schemas`. Everything is
checked strictly and all faults are reported together. Examples stand at the fields, the document
gathers them. In a `Result`, a field without a default is always there; one that is only sometimes
there is `Field(None, exclude_if=is_none)`. `Field(validation_alias="other")` reads another
attribute, `AliasPath("memory", "id")` one further inside.

One call, in order: credential, scope, organization, limits (`views`), strict reading (`parsing`),
idempotency, the function, then ETag, cursor and Location. `problems` turns refusals into problem
documents, `documentation` writes the OpenAPI document from the declarations.
"""
