-- The audit log of one organization; run with search_path = "<schema>", public.

-- Appending is all that anybody does, whatever the program says. The whole schema can be dropped.
CREATE FUNCTION refuse_to_change_the_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit log is append-only: % is refused.', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE ON teams_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_the_audit_log();

CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON teams_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_the_audit_log();

-- The head of the chain stands outside of this schema; of the template there is none.
INSERT INTO public.accounts_auditroot (organization_id, count, hash)
SELECT id, 0, '' FROM public.accounts_organization WHERE schema_name = current_schema()
ON CONFLICT (organization_id) DO UPDATE SET count = 0, hash = '';
