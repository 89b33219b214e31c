-- keepline_owner grants select on what it makes to keepline_app
ALTER DEFAULT PRIVILEGES FOR ROLE keepline_owner IN SCHEMA app GRANT SELECT ON TABLES TO keepline_app;

-- keepline_guard lets PUBLIC call
ALTER DEFAULT PRIVILEGES FOR ROLE keepline_guard GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
