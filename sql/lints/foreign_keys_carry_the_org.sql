-- Foreign keys see past policies. They carry org_id first and, between users' rows, user_id second: otherwise one could
-- refer to somebody else's row, learn that it exists, and lose the own row with it.
WITH keys AS (
  SELECT k.conname, k.conrelid, k.confrelid,
    array_agg(a.attname::text ORDER BY n.place) AS own, array_agg(f.attname::text ORDER BY n.place) AS other
  FROM pg_constraint k, unnest(k.conkey, k.confkey) WITH ORDINALITY AS n (own, other, place),
    pg_attribute a, pg_attribute f
  WHERE k.contype = 'f' AND k.connamespace = 'app'::regnamespace
    AND a.attrelid = k.conrelid AND a.attnum = n.own AND f.attrelid = k.confrelid AND f.attnum = n.other
  GROUP BY k.oid
), private AS (
  SELECT a.attrelid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'app'::regnamespace AND a.attname = 'user_id' AND NOT a.attisdropped
)
SELECT conname::text AS object, 'does not begin with org_id on both sides' AS problem FROM keys
WHERE (own[1], other[1]) IS DISTINCT FROM ('org_id', 'org_id')
  AND conname <> ALL (ARRAY[
    'providers_issuer_audience_claim_name_fkey' -- to the reviewed table that spans orgs
  ])
UNION ALL
SELECT conname::text, 'does not carry the user second' FROM keys
WHERE conrelid IN (SELECT attrelid FROM private)
  AND (confrelid IN (SELECT attrelid FROM private) AND (own[2], other[2]) IS DISTINCT FROM ('user_id', 'user_id')
    OR confrelid = 'app.users'::regclass AND (own[2], other[2]) IS DISTINCT FROM ('user_id', 'id'));
