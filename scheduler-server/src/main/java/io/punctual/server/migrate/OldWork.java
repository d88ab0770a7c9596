package io.punctual.server.migrate;

/** What another library kept, as far as Punctual takes it over. */
sealed interface OldWork permits OldJob, OldSchedule {}
