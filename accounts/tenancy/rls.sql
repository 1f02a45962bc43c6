-- The second wall. Which schema a statement reads comes from the search path, which rows
-- it may see from the setting cairn.tenant; each is set from a different part of the credential, so
-- a slip of one of them gives no rows instead of another organization's. Every table of a tenant
-- carries its organization in a column that defaults to it. Without the setting nothing is seen.
--
-- Run by `manage.py migrate` as the owner of the tables, each time: what stands is left as it is,
-- and a table that came since gets what it lacks. The policies read the setting in a subquery, which
-- is evaluated once a statement and not once a row.

CREATE SCHEMA IF NOT EXISTS cairn;

-- Put the wall around those tables of a tenant's schema that lack it.
CREATE OR REPLACE FUNCTION cairn.wall_in(place name, tenant uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bare name;
BEGIN
    FOR bare IN
        SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = place AND c.relkind IN ('r', 'p') AND NOT c.relforcerowsecurity
        ORDER BY c.relname
    LOOP
        EXECUTE format(
            'ALTER TABLE %1$I.%2$I ADD COLUMN tenant_id uuid NOT NULL DEFAULT %3$L,'
            ' ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', place, bare, tenant);
        EXECUTE format(
            'CREATE POLICY one_tenant ON %1$I.%2$I USING (%3$s) WITH CHECK (%3$s)', place, bare,
            'tenant_id = (SELECT nullif(current_setting(''cairn.tenant'', true), '''')::uuid)');
    END LOOP;
END $$;

-- Bring the schema of one organization up to date; the application's role cannot, this may. Only
-- for the organization of the running unit, with its own name, and from the steps kept here, which
-- that role cannot write.
CREATE OR REPLACE FUNCTION cairn.replay(organization uuid, OUT applied integer, OUT reached integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place name;
    step record;
BEGIN
    IF organization IS DISTINCT FROM nullif(current_setting('cairn.tenant', true), '')::uuid THEN
        RAISE insufficient_privilege USING MESSAGE = 'This is not the organization of the unit.';
    END IF;
    SELECT o.schema_name, o.schema_version INTO STRICT place, reached
    FROM public.accounts_organization AS o WHERE o.id = organization FOR UPDATE;
    IF place !~ '^t_[0-9a-f]{32}$' THEN
        RAISE invalid_schema_name USING MESSAGE = 'This is not the schema of an organization.';
    END IF;
    applied := 0;
    FOR step IN
        SELECT s.position, s.script FROM public.accounts_schemastep AS s
        WHERE s.position > reached ORDER BY s.position
    LOOP
        IF applied = 0 THEN
            EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', place);
            PERFORM set_config('search_path', format('%I, public, pg_temp', place), true);
        END IF;
        EXECUTE step.script;
        applied := applied + 1;
        reached := step.position;
    END LOOP;
    IF applied > 0 THEN
        PERFORM cairn.wall_in(place, organization);
        UPDATE public.accounts_organization AS o SET schema_version = reached
        WHERE o.id = organization;
    END IF;
END $$;

-- The indexes that searches of a large organization read (memory/search/sql/functions.sql): a graph
-- over the vectors of one model, and one over time.
CREATE OR REPLACE FUNCTION cairn.search_indexes(place name, model integer, dimensions integer)
RETURNS TABLE (name text, definition text) LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
    VALUES (format('memory_vector_near_%s', model), format(
        '%I.memory_memoryvector USING hnsw ((unit::public.halfvec(%s)) public.halfvec_ip_ops)'
        ' WITH (m = 16, ef_construction = 64) WHERE live AND model_id = %s', place, dimensions, model)),
    ('memory_kw_time', format(
        '%I.memory_memorykeyword USING btree (known_from) WHERE live', place))
$$;

-- Make one of those that the organization of the unit lacks, and tell how many it lacked before; the
-- application's role may make none. Whoever writes a memory there waits for as long, so it is refused beyond `most` vectors: such an
-- organization is for `manage.py index_search`, which nobody waits for.
CREATE OR REPLACE FUNCTION cairn.index_search(organization uuid, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place name;
    active record;
    missing record;
    is_more boolean;
    lacked integer := 0;
BEGIN
    IF organization IS DISTINCT FROM nullif(current_setting('cairn.tenant', true), '')::uuid THEN
        RAISE insufficient_privilege USING MESSAGE = 'This is not the organization of the unit.';
    END IF;
    SELECT o.schema_name INTO STRICT place
    FROM public.accounts_organization AS o WHERE o.id = organization;
    EXECUTE format('SELECT id, prefix_dimensions FROM %I.memory_embeddingmodel WHERE active', place)
    INTO active;
    EXECUTE format('SELECT count(*) > $1 FROM (SELECT FROM %I.memory_memoryvector'
        ' WHERE model_id = $2 LIMIT $1 + 1) AS vectors', place) INTO is_more USING most, active.id;
    IF is_more OR active.id IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('lock_timeout', '5s', true), set_config('maintenance_work_mem', '512MB', true);
    FOR missing IN
        SELECT i.name, i.definition
        FROM cairn.search_indexes(place, active.id, active.prefix_dimensions) AS i
        WHERE to_regclass(format('%I.%I', place, i.name)) IS NULL ORDER BY i.name
    LOOP
        IF lacked = 0 THEN
            EXECUTE format('CREATE INDEX %I ON %s', missing.name, missing.definition);
        END IF;
        lacked := lacked + 1;
    END LOOP;
    RETURN lacked;
END $$;

-- Put the wall around those shared tables that lack it: the ones whose rows name an organization. The
-- owner of the tables sees past it, which is what the doors are for. Operators see all of it on their
-- site, which sets cairn.operator for one request.
CREATE OR REPLACE FUNCTION cairn.wall_shared() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bare record;
BEGIN
    FOR bare IN
        SELECT c.relname, a.attname AS key
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT c.relrowsecurity AND a.atttypid = 'uuid'::regtype
          AND (a.attname IN ('organization_id', 'tenant_id')
               OR (c.relname, a.attname) = ('accounts_organization', 'id'))
        ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', bare.relname);
        EXECUTE format(
            'CREATE POLICY one_tenant ON public.%1$I USING (%2$s) WITH CHECK (%2$s)', bare.relname,
            format('%I = (SELECT nullif(current_setting(''cairn.tenant'', true), '''')::uuid)'
                   ' OR (SELECT current_setting(''cairn.operator'', true) = ''on'')', bare.key));
    END LOOP;
END $$;

-- The doors: what is asked before an organization is known, each as narrow as its purpose.

-- The one token with this public part, its organization, its owner and the owner's role now.
CREATE OR REPLACE FUNCTION cairn.present_token(part text)
RETURNS TABLE (
    id uuid, digest varchar, name varchar, kind varchar, user_id uuid, scopes varchar[],
    projects uuid[], source_interface varchar, revoked_at timestamptz, expires_at timestamptz,
    last_used_at timestamptz, organization_id uuid, organization_slug varchar, schema_name varchar,
    is_ready boolean, is_active boolean, role varchar)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
    SELECT t.id, t.digest, t.name, t.kind, t.user_id, t.scopes, t.projects, t.source_interface,
           t.revoked_at, t.expires_at, t.last_used_at, o.id, o.slug, o.schema_name, o.ready,
           p.is_active, m.role
    FROM public.accounts_token AS t
    JOIN public.accounts_organization AS o ON o.id = t.organization_id
    JOIN public.accounts_user AS p ON p.id = t.user_id
    LEFT JOIN public.accounts_membership AS m
        ON m.organization_id = t.organization_id AND m.user_id = t.user_id
    WHERE t.lookup = part;
END $$;

-- The organizations an active person belongs to, also those that are not ready yet.
CREATE OR REPLACE FUNCTION cairn.places_of(person uuid)
RETURNS TABLE (
    id uuid, slug varchar, name varchar, personal boolean, ready boolean, language varchar,
    schema_name varchar, created_at timestamptz, role varchar, joined_at timestamptz,
    membership_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
    SELECT o.id, o.slug, o.name, o.personal, o.ready, o.language, o.schema_name, o.created_at,
           m.role, m.created_at, m.id
    FROM public.accounts_membership AS m
    JOIN public.accounts_organization AS o ON o.id = m.organization_id
    JOIN public.accounts_user AS p ON p.id = m.user_id
    WHERE m.user_id = person AND p.is_active;
END $$;

-- The organization an invitation leads to, for who holds its link; by unique index, one row.
CREATE OR REPLACE FUNCTION cairn.invited_to(digests text[]) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT i.organization_id FROM public.accounts_invitation AS i
    WHERE i.digest = ANY (digests) ORDER BY i.id LIMIT 1
$$;

-- Every organization as a place to enter, for work that visits them all.
CREATE OR REPLACE FUNCTION cairn.every_organization()
RETURNS TABLE (id uuid, slug varchar, schema_name varchar, schema_version integer, ready boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.id, o.slug, o.schema_name, o.schema_version, o.ready
    FROM public.accounts_organization AS o ORDER BY o.id
$$;

-- Take the next due job of a queue, counting the attempt; by index job_due, one row or none.
CREATE OR REPLACE FUNCTION cairn.claim_job(line text, holder text, lease interval)
RETURNS TABLE (
    id uuid, name varchar, payload jsonb, attempts smallint, organization_id uuid, slug varchar,
    schema_name varchar)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT j.id FROM public.accounts_job AS j
        WHERE j.queue = line AND j.state = 'queued' AND j.run_after <= statement_timestamp()
        ORDER BY j.priority, j.run_after, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE public.accounts_job AS j SET
        state = 'running', attempts = j.attempts + 1, worker = holder,
        lease_until = statement_timestamp() + lease, started_at = statement_timestamp()
    FROM due, public.accounts_organization AS o
    WHERE j.id = due.id AND o.id = j.organization_id
    RETURNING j.id, j.name, j.payload, j.attempts, o.id, o.slug, o.schema_name;
END $$;

-- Running jobs whose worker no longer extends its lease; by index job_leased.
CREATE OR REPLACE FUNCTION cairn.lost_jobs() RETURNS TABLE (id uuid, organization_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT j.id, j.organization_id FROM public.accounts_job AS j
    WHERE j.state = 'running' AND j.lease_until < statement_timestamp() ORDER BY j.id
$$;

-- The queues that have due work; by index job_due.
CREATE OR REPLACE FUNCTION cairn.due_queues() RETURNS SETOF varchar
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT j.queue FROM public.accounts_job AS j
    WHERE j.state = 'queued' AND j.run_after <= statement_timestamp() ORDER BY j.queue
$$;

-- What stands in the way of work, for the operator: how many jobs wait for something that is away,
-- one reason, how long the oldest has been due, how many were put aside. Never whose or what.
CREATE OR REPLACE FUNCTION cairn.held_up()
RETURNS TABLE (waiting bigint, reason text, late_seconds integer, put_aside bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FILTER (WHERE j.state = 'queued' AND j.result ? 'waits'),
           coalesce(min(j.error) FILTER (WHERE j.state = 'queued' AND j.result ? 'waits'), ''),
           greatest(0, coalesce(extract(epoch FROM statement_timestamp()
               - min(j.run_after) FILTER (WHERE j.state = 'queued')), 0))::int,
           count(*) FILTER (WHERE j.state = 'quarantined')
    FROM public.accounts_job AS j WHERE j.state IN ('queued', 'quarantined')
$$;

-- How many jobs of each name are in which state, and for how long the oldest waiting one has been due:
-- for the operator, over all organizations. Never whose or what.
CREATE OR REPLACE FUNCTION cairn.job_figures()
RETURNS TABLE (
    name varchar, queue varchar, state varchar, jobs bigint, oldest_due_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT j.name, j.queue, j.state, count(*),
           greatest(0, coalesce(extract(epoch FROM statement_timestamp()
               - min(j.run_after) FILTER (WHERE j.state = 'queued')), 0))::double precision
    FROM public.accounts_job AS j
    WHERE j.state IN ('queued', 'running', 'failed', 'quarantined')
    GROUP BY j.name, j.queue, j.state ORDER BY j.queue, j.name, j.state
$$;

-- Forget jobs that ended well before so long; failed ones wait for a person.
CREATE OR REPLACE FUNCTION cairn.forget_jobs(age interval) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM public.accounts_job AS j
    WHERE j.state IN ('done', 'cancelled') AND j.finished_at < statement_timestamp() - age
$$;

-- Let the application's role do what it needs and nothing else; for the owner to call. What is made
-- later opens to it by default privileges, so no tenant has to be visited again.
CREATE OR REPLACE FUNCTION cairn.admit(application name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place name;
    door regprocedure;
BEGIN
    EXECUTE format('ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO %I', application);
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I', application);
    FOR place IN
        SELECT n.nspname FROM pg_namespace AS n
        WHERE n.nspname = 'public' OR n.nspname ~ '^t_[0-9a-f]{32}$'
            AND NOT has_schema_privilege(application, n.oid, 'USAGE')
        ORDER BY n.nspname
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', place, application);
        EXECUTE format(
            'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I',
            place, application);
    END LOOP;
    EXECUTE format(
        'REVOKE INSERT, UPDATE, DELETE ON public.accounts_schemastep, public.django_migrations'
        ' FROM %I', application);
    EXECUTE format('REVOKE ALL ON SCHEMA tenant_template FROM %I', application);
    EXECUTE format('GRANT USAGE ON SCHEMA cairn TO %I', application);
    FOR door IN
        SELECT p.oid FROM pg_proc AS p
        WHERE p.pronamespace = 'cairn'::regnamespace AND p.prosecdef ORDER BY p.oid
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', door, application);
    END LOOP;
END $$;

-- A filter by tag or words uses its index under row-level security only where its operator is said to
-- tell nothing of values it refuses, which it does not; a superuser alone may say so.
DO $$
BEGIN
    IF current_setting('is_superuser')::boolean THEN
        ALTER FUNCTION pg_catalog.arraycontains(anyarray, anyarray) LEAKPROOF;
        ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
    END IF;
END $$;

SELECT cairn.wall_shared();
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cairn FROM PUBLIC;
