"""The public schema as of the first baseline."""

import accounts.identifiers
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import django_tenants.postgresql_backend.base
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Create the tables; installations that ran the steps before have them already."""

    initial = True
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_audit_root"),
        ("accounts", "0003_longest_token_days"),
        ("accounts", "0004_why_jobs_failed"),
        ("accounts", "0005_keep_events_days"),
        ("accounts", "0006_last_used_hook"),
    ]

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.RunSQL(
            "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public", migrations.RunSQL.noop
        ),
        migrations.CreateModel(
            name='Organization',
            fields=[
                ('schema_name', models.CharField(db_index=True, max_length=63, unique=True, validators=[django_tenants.postgresql_backend.base._check_schema_name])),
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=48, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('personal', models.BooleanField(default=False)),
                ('ready', models.BooleanField(default=False)),
                ('schema_version', models.PositiveIntegerField(default=0)),
                ('language', models.CharField(default='en', max_length=8)),
                ('longest_token_days', models.PositiveSmallIntegerField(default=365)),
                ('keep_events_days', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('slug', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Plan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('memories', models.PositiveIntegerField(blank=True, null=True)),
                ('projects', models.PositiveIntegerField(blank=True, null=True)),
                ('members', models.PositiveIntegerField(blank=True, null=True)),
                ('requests_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                ('model_tokens_per_month', models.PositiveBigIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ('name', 'id'),
            },
        ),
        migrations.CreateModel(
            name='SchemaStep',
            fields=[
                ('position', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200, unique=True)),
                ('script', models.TextField()),
            ],
            options={
                'ordering': ('position',),
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('language', models.CharField(blank=True, max_length=8)),
                ('theme', models.CharField(blank=True, max_length=8)),
                ('shortcuts', models.BooleanField(default=True)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'ordering': ('email', 'id'),
            },
        ),
        migrations.CreateModel(
            name='AuditRoot',
            fields=[
                ('organization', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='audit_root', serialize=False, to='accounts.organization')),
                ('count', models.BigIntegerField(default=0)),
                ('hash', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ('organization',),
            },
        ),
        migrations.CreateModel(
            name='Domain',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('domain', models.CharField(db_index=True, max_length=253, unique=True)),
                ('is_primary', models.BooleanField(db_index=True, default=True)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='domains', to='accounts.organization')),
            ],
            options={
                'ordering': ('domain', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254)),
                ('role', models.CharField(choices=[('owner', 'owner'), ('admin', 'admin'), ('steward', 'steward'), ('member', 'member'), ('viewer', 'viewer')], default='member', max_length=10)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('invited_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='accounts.organization')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('queue', models.CharField(max_length=20)),
                ('priority', models.PositiveSmallIntegerField(default=3)),
                ('key', models.CharField(blank=True, max_length=200)),
                ('payload', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('quarantined', 'Quarantined'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run_after', models.DateTimeField()),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('result', models.JSONField(default=dict)),
                ('error', models.TextField(blank=True)),
                ('error_parts', models.JSONField(blank=True, null=True)),
                ('created_by', models.UUIDField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='accounts.organization')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('owner', 'owner'), ('admin', 'admin'), ('steward', 'steward'), ('member', 'member'), ('viewer', 'viewer')], default='member', max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='accounts.organization')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('created_at', 'id'),
            },
        ),
        migrations.AddField(
            model_name='organization',
            name='plan',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.plan'),
        ),
        migrations.CreateModel(
            name='Slot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('starts_at', models.DateTimeField()),
                ('taken_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ('-starts_at', 'name', 'id'),
                'constraints': [models.UniqueConstraint(fields=('name', 'starts_at'), name='slot_taken_once')],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.UUIDField(default=accounts.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(max_length=12)),
                ('lookup', models.CharField(max_length=24, unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('last_four', models.CharField(max_length=4)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=10), size=None)),
                ('projects', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, null=True, size=None)),
                ('source_interface', models.CharField(default='api', max_length=20)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_ip', models.GenericIPAddressField(blank=True, null=True)),
                ('last_used_agent', models.CharField(blank=True, max_length=120)),
                ('last_used_hook', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='accounts.organization')),
                ('replaced_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.token')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Usage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.DateField()),
                ('kind', models.CharField(max_length=40)),
                ('amount', models.PositiveBigIntegerField(default=0)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='usage', to='accounts.organization')),
            ],
            options={
                'ordering': ('-month', 'kind', 'id'),
            },
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_once'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.UniqueConstraint(models.F('organization'), django.db.models.functions.text.Lower('email'), condition=models.Q(('accepted_at', None), ('revoked_at', None)), name='invitation_open_once'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'queued')), fields=['queue', 'priority', 'run_after', 'id'], name='job_due'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'running')), fields=['lease_until'], name='job_leased'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['organization', '-created_at', 'id'], name='job_of_organization'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(models.Q(('key', ''), _negated=True), ('state', 'queued')), fields=('organization', 'name', 'key'), name='job_waiting_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('organization', 'user'), name='membership_once'),
        ),
        migrations.AddIndex(
            model_name='token',
            index=models.Index(fields=['organization', 'user'], name='accounts_to_organiz_ad7b45_idx'),
        ),
        migrations.AddConstraint(
            model_name='usage',
            constraint=models.UniqueConstraint(fields=('organization', 'month', 'kind'), name='usage_once'),
        ),
    ]
