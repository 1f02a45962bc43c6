-- The second wall (spec 7.1). Which schema a statement reads comes from the search path, which rows
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

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cairn FROM PUBLIC;
