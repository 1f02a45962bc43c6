"""Projects, teams, the feed and the audit log as of the first baseline."""

from pathlib import Path

import accounts.identifiers
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


SCRIPT = Path(__file__).with_name("baseline.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the tables; organizations that ran the steps before have them already."""

    initial = True
    replaces = [
        ("teams", "0001_initial"),
        ("teams", "0002_audit_chain"),
        ("teams", "0003_versions"),
        ("teams", "0004_audit_lookups"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('description', models.CharField(blank=True, max_length=400)),
                ('open_to_all', models.BooleanField(default=True)),
                ('settings', models.JSONField(default=dict)),
                ('created_by', models.UUIDField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('version', models.PositiveIntegerField(default=1)),
            ],
            options={
                'ordering': ('slug', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('version', models.PositiveIntegerField(default=1)),
            ],
            options={
                'ordering': ('slug', 'id'),
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                ('act', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=40)),
                ('object_id', models.CharField(max_length=64)),
                ('actor_user', models.UUIDField(null=True)),
                ('token_id', models.UUIDField(null=True)),
                ('agent', models.CharField(blank=True, max_length=120)),
                ('source_interface', models.CharField(blank=True, max_length=20)),
                ('surface', models.CharField(max_length=10)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('details', models.JSONField(default=dict)),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('created_at', models.DateTimeField()),
                ('previous_hash', models.CharField(max_length=64)),
                ('hash', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ('number',),
                'indexes': [models.Index(fields=['object_id', 'number'], name='teams_audit_object'), models.Index(condition=models.Q(('act__in', ('memory.confirmed', 'memory.bulk_confirmed', 'memory.bulk_written')), ('agent', ''), ('token_id__isnull', True)), fields=['act', 'object_id'], name='teams_audit_confirmed')],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=40)),
                ('object_id', models.UUIDField()),
                ('project_id', models.UUIDField(null=True)),
                ('audience', models.UUIDField()),
                ('actor_user', models.UUIDField(null=True)),
                ('actor_name', models.CharField(blank=True, max_length=120)),
                ('source_interface', models.CharField(blank=True, max_length=20)),
                ('summary', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ('id',),
                'indexes': [models.Index(fields=['project_id', 'id'], name='teams_chang_project_337704_idx')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('principal', models.CharField(max_length=80)),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('headers', models.JSONField(default=dict)),
                ('body', models.BinaryField(default=b'')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(fields=('principal', 'key'), name='idempotency_once')],
            },
        ),
        migrations.CreateModel(
            name='ProjectMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user_id', models.UUIDField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='teams.project')),
            ],
            options={
                'ordering': ('created_at', 'id'),
                'indexes': [models.Index(fields=['user_id'], name='teams_proje_user_id_fdf765_idx')],
                'constraints': [models.UniqueConstraint(fields=('project', 'user_id'), name='project_member_once')],
            },
        ),
        migrations.CreateModel(
            name='TeamMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user_id', models.UUIDField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='teams.team')),
            ],
            options={
                'ordering': ('created_at', 'id'),
                'indexes': [models.Index(fields=['user_id'], name='teams_teamm_user_id_08f226_idx')],
                'constraints': [models.UniqueConstraint(fields=('team', 'user_id'), name='team_member_once')],
            },
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    ]
