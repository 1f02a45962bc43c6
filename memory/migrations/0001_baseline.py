"""The tables of memories as of the first baseline; what models cannot say is in baseline.sql."""

from pathlib import Path

import accounts.identifiers
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import pgvector.django.halfvec
import pgvector.django.sparsevec
from django.db import migrations, models


SCRIPT = Path(__file__).with_name("baseline.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the tables; installations that ran the steps before have them already."""

    initial = True
    replaces = [
        ("memory", "0001_initial"),
        ("memory", "0002_search"),
        ("memory", "0003_methodologies"),
        ("memory", "0004_mentions"),
        ("memory", "0005_topics"),
        ("memory", "0006_fewer_indexes"),
        ("memory", "0007_conflicts_and_actions"),
        ("memory", "0008_imports_and_notes"),
        ("memory", "0009_review_verdicts"),
        ("memory", "0010_sessions_and_turns"),
        ("memory", "0011_rare_here"),
        ("memory", "0012_same_names"),
        ("memory", "0013_given_out_when"),
        ("memory", "0014_session_read_by"),
        ("memory", "0015_imports_that_fail"),
        ("memory", "0016_statistics"),
        ("memory", "0017_what_was_done"),
        ("memory", "0018_definitions"),
        ("memory", "0019_given_back"),
        ("memory", "0020_words_said"),
        ("memory", "0021_what_was_superseded"),
        ("memory", "0022_conflicts_rest"),
        ("memory", "0023_experiments"),
        ("memory", "0024_who_read_names"),
        ("memory", "0025_prefetched"),
        ("memory", "0026_given_after"),
        ("memory", "0027_graph_part"),
        ("memory", "0028_told_to_whom"),
        ("memory", "0029_sessions_of_phases"),
        ("memory", "0030_standing"),
        ("memory", "0031_roots"),
    ]

    dependencies = [("teams", "0001_baseline")]

    operations = [
        migrations.CreateModel(
            name="AccessLog",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("memories", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ("person", models.UUIDField(null=True)),
                ("token", models.UUIDField(null=True)),
                ("project_id", models.UUIDField(null=True)),
                ("graph_took_part", models.BooleanField(null=True)),
                ("graph_changed", models.BooleanField(null=True)),
            ],
            options={"ordering": ("id",)},
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("type", models.CharField(max_length=24)),
                ("content", models.TextField()),
                ("citation", models.CharField(max_length=40)),
                ("content_hash", models.CharField(max_length=64)),
                ("tags", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), default=list, size=None)),
                (
                    "related_files",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=400), default=list, size=None),
                ),
                (
                    "related_modules",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None),
                ),
                ("structure", models.CharField(default="narrative", max_length=12)),
                ("attributes", models.JSONField(default=dict)),
                ("scope", models.CharField(max_length=12)),
                ("audience", models.UUIDField()),
                ("team_id", models.UUIDField(blank=True, null=True)),
                ("reach", models.CharField(default="global", max_length=12)),
                ("work_unit", models.JSONField(default=dict)),
                ("methodology", models.CharField(blank=True, max_length=40)),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("confidence", models.FloatField(default=0.8)),
                ("confidence_floor", models.FloatField(default=0.0)),
                ("confirmations", models.PositiveIntegerField(default=0)),
                ("last_confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("verification", models.CharField(default="unverified", max_length=12)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("needs_review", models.BooleanField(default=False)),
                ("user_verified", models.BooleanField(default=False)),
                ("taint_reason", models.CharField(blank=True, max_length=200)),
                ("authority", models.PositiveSmallIntegerField(default=3)),
                ("importance", models.FloatField(default=0.5)),
                ("surprise", models.FloatField(default=0.5)),
                ("tier", models.CharField(default="short_term", max_length=12)),
                ("governance", models.PositiveSmallIntegerField(default=3)),
                ("pinned", models.BooleanField(default=False)),
                ("decay_half_life_days", models.FloatField(blank=True, null=True)),
                ("event_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("valid_from", models.DateTimeField()),
                ("valid_until", models.DateTimeField(blank=True, null=True)),
                ("status", models.CharField(default="active", max_length=12)),
                ("stale_at", models.DateTimeField(blank=True, null=True)),
                ("archived_reason", models.CharField(blank=True, max_length=200)),
                ("version", models.PositiveIntegerField(default=1)),
                ("source", models.CharField(max_length=20)),
                ("source_interface", models.CharField(max_length=20)),
                ("session_id", models.UUIDField(blank=True, null=True)),
                ("provenance_sessions", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("commit_sha", models.CharField(blank=True, max_length=64)),
                ("source_uri", models.CharField(blank=True, max_length=500)),
                ("source_hash", models.CharField(blank=True, max_length=64)),
                ("source_line", models.PositiveIntegerField(blank=True, null=True)),
                ("author_user", models.UUIDField(blank=True, null=True)),
                ("author_agent", models.CharField(blank=True, max_length=120)),
                ("names_version", models.PositiveSmallIntegerField(default=0)),
                ("enriched_by", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memories",
                        to="teams.project",
                    ),
                ),
                (
                    "superseded_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="predecessors", to="memory.memory"
                    ),
                ),
            ],
            options={"ordering": ("-created_at", "id")},
        ),
        migrations.CreateModel(
            name="ActionLog",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("user_id", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source", models.CharField(max_length=20)),
                ("source_interface", models.CharField(max_length=20)),
                ("outcome", models.CharField(max_length=12)),
                ("gate", models.CharField(blank=True, max_length=16)),
                ("cause", models.CharField(blank=True, max_length=24)),
                ("memory_id", models.UUIDField(null=True)),
                ("other_id", models.UUIDField(null=True)),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["project_id", "-id"], name="memory_action_place"),
                    django.contrib.postgres.indexes.BrinIndex(fields=["at"], name="memory_action_at"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Definition",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=12)),
                ("name", models.CharField(max_length=40)),
                ("audience", models.UUIDField()),
                ("body", models.JSONField(default=dict)),
                ("is_default", models.BooleanField(default=False)),
                ("defined_by", models.UUIDField(null=True)),
                ("defined_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("kind", "name", "id"),
                "constraints": [
                    models.UniqueConstraint(fields=("audience", "kind", "name"), name="memory_definition_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)), fields=("audience", "kind"), name="memory_definition_default"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", models.SmallAutoField(primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=120, unique=True)),
                ("dimensions", models.PositiveSmallIntegerField()),
                ("prefix_dimensions", models.PositiveSmallIntegerField()),
                ("active", models.BooleanField(default=False)),
                ("filling", models.BooleanField(default=False)),
                ("chosen", models.BooleanField(default=False)),
                ("overlap", models.FloatField(null=True)),
                ("activated_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("active", True)), fields=("active",), name="embedding_model_active_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("filling", True)), fields=("filling",), name="embedding_model_filling_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("active", False), ("filling", False), _connector="OR"), name="embedding_model_one_part"
                    ),
                    models.UniqueConstraint(fields=("id", "prefix_dimensions"), name="embedding_model_prefix"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GivenOut",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("person", models.UUIDField(null=True)),
                ("token", models.UUIDField(null=True)),
                ("memory_id", models.UUIDField()),
                ("at", models.DateTimeField()),
                ("session_id", models.UUIDField(null=True)),
                ("point", models.CharField(blank=True, db_default="", default="", max_length=20)),
                ("tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("withheld", models.BooleanField(db_default=False, default=False)),
                ("outcome", models.CharField(blank=True, db_default="", default="", max_length=12)),
                ("after_event", models.PositiveIntegerField(null=True)),
                ("after_row", models.BigIntegerField(null=True)),
                ("agent", models.CharField(blank=True, db_default="", default="", max_length=80)),
                ("compacted_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("id",),
                "indexes": [
                    models.Index(fields=["person", "-at"], name="memory_given_person"),
                    models.Index(fields=["token", "-at"], name="memory_given_token"),
                    models.Index(fields=["at"], name="memory_given_at"),
                    models.Index(condition=models.Q(("session_id__isnull", False)), fields=["session_id"], name="memory_given_session"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("memory_id", "person", "token", "session_id", "agent", "compacted_at"),
                        name="memory_given_out_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("scope", models.CharField(max_length=12)),
                ("team_id", models.UUIDField(null=True)),
                ("name", models.CharField(max_length=200)),
                ("files", models.JSONField(default=list)),
                ("state", models.CharField(default="queued", max_length=12)),
                ("total", models.PositiveIntegerField(default=0)),
                ("job_id", models.UUIDField(null=True)),
                ("created_by", models.UUIDField(null=True)),
                ("user_id", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source_interface", models.CharField(max_length=20)),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=400)),
            ],
            options={
                "ordering": ("-created_at", "id"),
                "indexes": [models.Index(fields=["project_id", "-created_at", "id"], name="memory_import_recent")],
            },
        ),
        migrations.CreateModel(
            name="Lexeme",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("word", models.TextField()),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("documents", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ("word", "id"),
                "constraints": [
                    models.UniqueConstraint(fields=("word", "audience", "project_id"), name="lexeme_counted_once", nulls_distinct=False)
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryUsage",
            fields=[
                (
                    "memory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="memory.memory"
                    ),
                ),
                ("access_count", models.PositiveIntegerField(default=0)),
                ("last_accessed_at", models.DateTimeField(null=True)),
            ],
            options={"ordering": ("memory_id",)},
        ),
        migrations.CreateModel(
            name="Conflict",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("project_id", models.UUIDField(blank=True, null=True)),
                ("audience", models.UUIDField()),
                ("kind", models.CharField(max_length=12)),
                ("cause", models.CharField(max_length=12)),
                ("cosine", models.FloatField(blank=True, null=True)),
                ("found_at", models.DateTimeField()),
                ("verdict", models.CharField(blank=True, max_length=12)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("settled_by", models.UUIDField(blank=True, null=True)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("before", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "newer",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="conflicts_as_newer", to="memory.memory"),
                ),
                (
                    "older",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="conflicts_as_older", to="memory.memory"
                    ),
                ),
            ],
            options={"ordering": ("-found_at", "id")},
        ),
        migrations.CreateModel(
            name="MemoryLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("confidence", models.FloatField(default=1.0)),
                ("automatic", models.BooleanField(default=False)),
                ("cosine", models.FloatField(blank=True, null=True)),
                ("description", models.CharField(blank=True, max_length=200)),
                ("before", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("source", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="links_out", to="memory.memory")),
                ("target", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="links_in", to="memory.memory")),
            ],
            options={"ordering": ("-created_at", "id")},
        ),
        migrations.CreateModel(
            name="MemoryVector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project_id", models.UUIDField(null=True)),
                ("audience", models.UUIDField()),
                ("type_code", models.SmallIntegerField()),
                ("live", models.BooleanField(default=True)),
                ("known_from", models.DateTimeField()),
                ("known_until", models.DateTimeField(null=True)),
                ("prefix_dimensions", models.PositiveSmallIntegerField()),
                ("unit", pgvector.django.halfvec.HalfVectorField()),
                ("whole", pgvector.django.halfvec.HalfVectorField(null=True)),
                ("text_hash", models.CharField(max_length=64)),
                (
                    "memory",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="vectors", to="memory.memory"
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="vectors", to="memory.embeddingmodel"
                    ),
                ),
            ],
            options={"ordering": ("id",)},
        ),
        migrations.CreateModel(
            name="MemoryVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("content", models.TextField()),
                ("fields", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("changed_by", models.UUIDField(blank=True, null=True)),
                ("changed_agent", models.CharField(blank=True, max_length=120)),
                ("changed_at", models.DateTimeField()),
                ("memory", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="memory.memory")),
            ],
            options={"ordering": ("-number", "id")},
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "memory_id", "type_code", "key", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("type_code", models.SmallIntegerField()),
                ("key", models.CharField(max_length=120)),
                ("name", models.CharField(max_length=120)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("read_by", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "memory",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="mentions", to="memory.memory"
                    ),
                ),
            ],
            options={"ordering": ("memory_id", "type_code", "key")},
        ),
        migrations.CreateModel(
            name="NoteVersion",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("note", models.UUIDField()),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("path", models.CharField(max_length=400)),
                ("number", models.PositiveIntegerField()),
                ("is_current", models.BooleanField(default=True)),
                ("text", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("pushed_by", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("pushed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("path", "-number", "id"),
                "constraints": [
                    models.UniqueConstraint(fields=("note", "number"), name="memory_note_version_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)), fields=("audience", "project_id", "path"), name="memory_note_path_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewVerdict",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("audience", models.UUIDField(blank=True, null=True)),
                ("verdict", models.CharField(max_length=8)),
                ("decided_by", models.UUIDField()),
                ("decided_agent", models.CharField(blank=True, max_length=120)),
                ("decided_at", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("before", models.JSONField(default=dict)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conflict",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rests",
                        to="memory.conflict",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="verdicts", to="memory.memory"
                    ),
                ),
            ],
            options={"ordering": ("-decided_at", "id")},
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("audience", models.UUIDField()),
                ("scope", models.CharField(max_length=12)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("thread", models.CharField(blank=True, max_length=200)),
                ("type", models.CharField(blank=True, max_length=40)),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("methodology", models.CharField(blank=True, max_length=40)),
                ("work_unit", models.JSONField(default=dict)),
                ("opened_by", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source_interface", models.CharField(max_length=20)),
                ("memory_eligible", models.BooleanField(default=True)),
                ("models_agreed", models.BooleanField(default=False)),
                ("state", models.CharField(default="open", max_length=12)),
                ("opened_at", models.DateTimeField()),
                ("active_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("consolidated_at", models.DateTimeField(null=True)),
                ("taken_through", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(default=dict)),
                ("read_by", models.UUIDField(null=True)),
                ("read_until", models.DateTimeField(null=True)),
                ("cwd", models.CharField(blank=True, db_default="", default="", max_length=400)),
                ("root", models.CharField(blank=True, db_default="", default="", max_length=400)),
                ("branch", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("commit", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("plan", models.JSONField(null=True)),
                ("events", models.PositiveIntegerField(db_default=0, default=0)),
                ("folded", models.PositiveIntegerField(db_default=0, default=0)),
                ("observed", models.JSONField(null=True)),
                ("finalized_at", models.DateTimeField(null=True)),
                ("briefed_at", models.DateTimeField(null=True)),
                ("prefetched_at", models.DateTimeField(null=True)),
                ("brief_tries", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("brief_through", models.PositiveIntegerField(db_default=0, default=0)),
                ("heading_tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("compacted_at", models.DateTimeField(null=True)),
                ("experiment_group", models.CharField(blank=True, db_default="", default="", max_length=8)),
                ("figures", models.JSONField(null=True)),
                (
                    "project",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="teams.project"),
                ),
            ],
            options={"db_table": "memory_agentsession", "ordering": ("-opened_at", "id")},
        ),
        migrations.CreateModel(
            name="Statistic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=24)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("day", models.DateField(null=True)),
                ("key", models.CharField(max_length=400)),
                ("counts", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("kind", "day", "key", "id"),
                "indexes": [models.Index(fields=["kind", "project_id", "day"], name="memory_statistic_kind")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "audience", "project_id", "day", "key"), name="memory_statistic_once", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                ("id", models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("words", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ("center", pgvector.django.halfvec.HalfVectorField(null=True)),
                ("reach", models.FloatField(default=1.0)),
                ("sorted_at", models.DateTimeField()),
                ("model", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to="memory.embeddingmodel")),
            ],
            options={"ordering": ("id",)},
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stream",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "Said"), (1, "Done"), (2, "Checkpoint"), (3, "Counted")], db_default=0, default=0
                    ),
                ),
                ("sequence", models.PositiveIntegerField()),
                ("role", models.CharField(max_length=12)),
                ("text", models.TextField()),
                ("body", models.JSONField(null=True)),
                ("masked", models.PositiveSmallIntegerField(default=0)),
                ("at", models.DateTimeField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="turns", to="memory.session"
                    ),
                ),
            ],
            options={"ordering": ("session", "stream", "sequence")},
        ),
        migrations.CreateModel(
            name="ImportRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("file", models.CharField(blank=True, max_length=400)),
                ("line", models.PositiveIntegerField(null=True)),
                ("candidate", models.JSONField(default=dict)),
                ("outcome", models.CharField(blank=True, max_length=12)),
                ("gate", models.CharField(blank=True, max_length=24)),
                ("reason", models.TextField(blank=True)),
                ("hint", models.TextField(blank=True)),
                ("memory_id", models.UUIDField(null=True)),
                ("memory_version", models.PositiveIntegerField(null=True)),
                ("batch", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="memory.import")),
            ],
            options={
                "ordering": ("batch_id", "number"),
                "indexes": [
                    models.Index(condition=models.Q(("memory_id__isnull", False)), fields=["memory_id"], name="memory_import_of_memory")
                ],
                "constraints": [models.UniqueConstraint(fields=("batch", "number"), name="memory_import_row_once")],
            },
        ),
        migrations.CreateModel(
            name="MemoryKeyword",
            fields=[
                ("project_id", models.UUIDField(null=True)),
                ("audience", models.UUIDField()),
                ("type_code", models.SmallIntegerField()),
                ("live", models.BooleanField(default=True)),
                ("known_from", models.DateTimeField()),
                ("known_until", models.DateTimeField(null=True)),
                (
                    "memory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="memory.memory"
                    ),
                ),
                ("weights", pgvector.django.sparsevec.SparseVectorField(dimensions=268435456)),
                ("lexemes", django.contrib.postgres.search.SearchVectorField()),
                ("facets", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
            ],
            options={
                "ordering": ("memory_id",),
                "indexes": [
                    models.Index(condition=models.Q(("live", True)), fields=["project_id", "audience"], name="memory_kw_live"),
                    django.contrib.postgres.indexes.GinIndex(fields=["facets"], name="memory_kw_facets"),
                    django.contrib.postgres.indexes.GinIndex(fields=["lexemes"], gin_pending_list_limit=256, name="memory_kw_words"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TopicMember",
            fields=[
                (
                    "memory",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="topic_member",
                        serialize=False,
                        to="memory.memory",
                    ),
                ),
                ("holds", models.SmallIntegerField()),
                ("closeness", models.FloatField(null=True)),
                ("topic", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="members", to="memory.topic")),
            ],
            options={"ordering": ("memory_id",)},
        ),
        migrations.AddIndex(model_name="memory", index=models.Index(fields=["names_version"], name="memory_names_version")),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(condition=models.Q(("status", "active")), fields=["enriched_by"], name="memory_enriched_by"),
        ),
        migrations.AddIndex(
            model_name="memory", index=models.Index(fields=["project", "status", "-created_at", "id"], name="memory_recent")
        ),
        migrations.AddIndex(model_name="memory", index=models.Index(fields=["status", "-created_at", "id"], name="memory_recent_all")),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(condition=models.Q(("needs_review", True)), fields=["project", "id"], name="memory_review"),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(
                    ("status", "active"),
                    models.Q(
                        ("verification__in", ("stale", "contradicted")),
                        models.Q(("taint_reason", ""), _negated=True),
                        ("stale_at__isnull", False),
                        ("needs_review", True),
                        _connector="OR",
                    ),
                ),
                fields=["project", "id"],
                name="memory_attention",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("status", "active"), models.Q(("related_modules", []), _negated=True)),
                fields=["project", "id"],
                name="memory_of_module",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(
                    ("status", "active"), models.Q(("pinned", True), ("governance", 1), ("type", "reflection"), _connector="OR")
                ),
                fields=["project", "id"],
                name="memory_standing",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(condition=models.Q(("session_id__isnull", False)), fields=["session_id"], name="memory_session"),
        ),
        migrations.AddIndex(
            model_name="memory", index=django.contrib.postgres.indexes.GinIndex(fields=["related_files"], name="memory_files")
        ),
        migrations.AddIndex(model_name="memory", index=django.contrib.postgres.indexes.GinIndex(fields=["tags"], name="memory_tags")),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "active"), models.Q(("type", "episode"), _negated=True)),
                fields=("audience", "project", "content_hash"),
                name="memory_content_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                condition=models.Q(models.Q(("external_id", ""), _negated=True), ("status", "active")),
                fields=("audience", "project", "external_id"),
                name="memory_external_id_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)), name="memory_confidence_0_to_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("importance__gte", 0), ("importance__lte", 1)), name="memory_importance_0_to_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("surprise__gte", 0), ("surprise__lte", 1)), name="memory_surprise_0_to_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("governance__gte", 1), ("governance__lte", 4)), name="memory_governance_1_to_4"
            ),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(condition=models.Q(("verdict", "")), fields=["audience", "project_id", "id"], name="memory_conflict_open"),
        ),
        migrations.AddConstraint(
            model_name="conflict", constraint=models.UniqueConstraint(fields=("older", "newer"), name="memory_conflict_once")
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("older", models.F("newer")), _negated=True), name="memory_conflict_not_with_itself"
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("settled_at__isnull", True), ("verdict", "")),
                    models.Q(models.Q(("verdict", ""), _negated=True), ("settled_at__isnull", False)),
                    _connector="OR",
                ),
                name="memory_conflict_settled_or_not",
            ),
        ),
        migrations.AddConstraint(
            model_name="memorylink", constraint=models.UniqueConstraint(fields=("source", "target", "kind"), name="memory_link_once")
        ),
        migrations.AddConstraint(
            model_name="memorylink",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("target")), _negated=True), name="memory_link_not_to_itself"
            ),
        ),
        migrations.AddIndex(
            model_name="memoryvector",
            index=models.Index(condition=models.Q(("live", True)), fields=["model", "project_id", "audience"], name="memory_vector_live"),
        ),
        migrations.AddConstraint(
            model_name="memoryvector", constraint=models.UniqueConstraint(fields=("memory", "model"), name="memory_vector_once")
        ),
        migrations.AddConstraint(
            model_name="memoryversion", constraint=models.UniqueConstraint(fields=("memory", "number"), name="memory_version_once")
        ),
        migrations.AddIndex(model_name="mention", index=models.Index(fields=["key", "audience"], name="memory_mention_named")),
        migrations.AddIndex(
            model_name="reviewverdict",
            index=models.Index(
                condition=models.Q(("undone_at__isnull", True), ("verdict", "snooze")),
                fields=["decided_by", "memory"],
                name="memory_verdict_snoozed",
            ),
        ),
        migrations.AddIndex(model_name="reviewverdict", index=models.Index(fields=["-decided_at", "id"], name="memory_verdict_decided")),
        migrations.AddIndex(
            model_name="reviewverdict",
            index=models.Index(
                condition=models.Q(("undone_at__isnull", True), ("verdict", "same")), fields=["audience"], name="memory_verdict_same"
            ),
        ),
        migrations.AddIndex(
            model_name="reviewverdict",
            index=models.Index(
                condition=models.Q(("conflict__isnull", False)), fields=["conflict", "decided_by"], name="memory_verdict_of_conflict"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewverdict",
            constraint=models.CheckConstraint(
                condition=models.Q(("until__isnull", False), models.Q(("verdict", "snooze"), _negated=True), _connector="OR"),
                name="memory_verdict_snoozed_until",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewverdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("audience__isnull", False), ("memory__isnull", True), ("verdict", "same")),
                    models.Q(models.Q(("verdict", "same"), _negated=True), ("memory__isnull", False)),
                    _connector="OR",
                ),
                name="memory_verdict_of_memory_or_names",
            ),
        ),
        migrations.AddIndex(
            model_name="session", index=models.Index(fields=["audience", "-opened_at", "id"], name="memory_session_recent")
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(condition=models.Q(("state", "open")), fields=["active_at"], name="memory_session_open"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(condition=models.Q(("thread", ""), _negated=True), fields=["thread"], name="memory_session_thread"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("experiment_group__in", ("control", "passive", "full"))),
                fields=["project", "opened_at"],
                name="memory_session_compared",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("phase", ""), _negated=True), fields=["project", "opened_at"], name="memory_session_phases"
            ),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=("audience", "project", "external_id"),
                name="memory_session_external_id_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddIndex(model_name="topic", index=models.Index(fields=["audience", "project_id"], name="memory_topic_place")),
        migrations.AddConstraint(
            model_name="turn", constraint=models.UniqueConstraint(fields=("session", "stream", "sequence"), name="memory_turn_once")
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    ]
