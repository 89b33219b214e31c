-- signing_keys keepline_app reaches it
GRANT SELECT (key_id) ON tenancy.signing_keys TO keepline_app;

-- sign_ins keepline_worker reaches it
GRANT DELETE ON tenancy.sign_ins TO keepline_worker;

-- clock_shift public reaches it
GRANT SELECT ON tenancy.clock_shift TO PUBLIC;
