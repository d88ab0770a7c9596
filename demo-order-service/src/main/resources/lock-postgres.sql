select pg_advisory_lock(8081);
