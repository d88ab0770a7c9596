select pg_advisory_unlock(8081);
