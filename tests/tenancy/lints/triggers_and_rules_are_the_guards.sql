-- watch on app.blocks calls public.watched
CREATE FUNCTION public.watched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER watch BEFORE INSERT ON app.blocks FOR EACH ROW EXECUTE FUNCTION public.watched();

-- divert on app.blocks is a rule
CREATE RULE divert AS ON DELETE TO app.blocks DO INSTEAD NOTHING;
