-- blocks.text has no statistics target of 0
ALTER TABLE app.blocks ALTER COLUMN text SET STATISTICS DEFAULT;

-- blocks.draft has no statistics target of 0
ALTER TABLE app.blocks ADD COLUMN draft text[];

-- blocks.embedding has no statistics target of 0
ALTER TABLE app.blocks ADD COLUMN embedding public.halfvec(3);

-- blocks_by_word is over an expression
CREATE INDEX blocks_by_word ON app.blocks (org_id, lower(text));

-- blocks_together keeps extended statistics
CREATE STATISTICS app.blocks_together ON org_id, updated_by_client FROM app.blocks;
