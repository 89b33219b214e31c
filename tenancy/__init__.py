"""Who is asking: settings, the database, identity providers, credentials, roles and the guards of every route."""
