"""The addresses of pages (spec 9.1)."""

from django.urls import URLPattern, URLResolver, include, path

from frontend.views import (
    account,
    activity,
    audit,
    connections,
    documents,
    editing,
    embedding,
    invitations,
    jobs,
    landing,
    live,
    memories,
    organizations,
    overview,
    palette,
    places,
    settings,
    teach,
    verbs,
)

memory: list[URLPattern | URLResolver] = [  # of a project, and of none
    path("memories/<uuid:memory_id>", memories.memory, name="memory"),
    path("memories/<uuid:memory_id>.json", memories.as_json, name="memory_json"),
    path("memories/<uuid:memory_id>.md", memories.as_markdown, name="memory_md"),
    path("memories/<uuid:memory_id>/correct", editing.correct, name="correct"),
    path("memories/<uuid:memory_id>/diff", editing.difference, name="difference"),
    path("memories/<uuid:memory_id>/archive", editing.archive, name="archive"),
    path("memories/<uuid:memory_id>/versions/<int:number>", editing.restore_version,
         name="restore_version"),
    path("memories/<uuid:memory_id>/<str:verb>", verbs.verb, name="verb"),
]  # fmt: skip

project: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("figures", overview.figures, name="figures"),
    path("memories", memories.memories, name="memories"),
    path("memories/bulk", verbs.bulk, name="bulk"),
    *memory,
    path("teach", teach.teach, name="teach"),
    path("teach/look", teach.look, name="look"),
    path("connections", connections.connections, name="connections"),
    path("connections/steps", connections.steps, name="steps"),
    path("connections/token", connections.token, name="connection_token"),
    path("activity", activity.activity, name="activity"),
    path("settings", places.project_settings, name="project_settings"),
    path("settings/people", places.project_people, name="project_people"),
]  # fmt: skip

organization: list[URLPattern | URLResolver] = [
    path("", organizations.organization, name="organization"),
    path("projects/new", organizations.new_project, name="new_project"),
    path("palette", palette.palette, name="palette"),
    *memory,
    path("changes", live.changes, name="changes"),
    path("settings/general", settings.general, name="settings_general"),
    path("settings/members", settings.members, name="settings_members"),
    path("settings/members/invite", settings.invite, name="invite"),
    path("settings/members/<uuid:user_id>", settings.member_change, name="member_change"),
    path("settings/invitations/<uuid:invitation_id>", settings.invitation_change,
         name="invitation_change"),
    path("settings/teams", places.teams, name="settings_teams"),
    path("settings/teams/<uuid:team_id>", places.team, name="settings_team"),
    path("settings/teams/<uuid:team_id>/people", places.team_people, name="team_people"),
    path("settings/tokens", settings.tokens, name="settings_tokens"),
    path("settings/tokens/new", settings.new_token, name="new_token"),
    path("settings/tokens/<uuid:token_id>", settings.token_change, name="token_change"),
    path("settings/models", embedding.models, name="settings_models"),
    path("settings/jobs", jobs.jobs, name="settings_jobs"),
    path("settings/jobs/<uuid:job_id>", jobs.job_change, name="job_change"),
    path("settings/audit", audit.log, name="settings_audit"),
    path("settings/audit.csv", audit.as_csv, name="audit_csv"),
    path("p/<slug:project>/", include(project)),
]  # fmt: skip

urlpatterns: list[URLPattern | URLResolver] = [
    path("", landing.home, name="home"),
    path("", include("allauth.urls")),
    path("invite/<str:secret>", invitations.invitation, name="invitation"),
    path("language", account.language, name="language"),
    path("me", account.me, name="me"),
    path("me/theme", account.theme, name="theme"),
    path("docs/", documents.index, name="docs"),
    path("docs/<slug:name>/", documents.document, name="document"),
    path("m/<uuid:memory_id>", memories.permalink, name="permalink"),
    path("o/", organizations.organizations, name="organizations"),
    path("o/new", organizations.new_organization, name="new_organization"),
    path("o/<slug:org>/", include(organization)),
]
