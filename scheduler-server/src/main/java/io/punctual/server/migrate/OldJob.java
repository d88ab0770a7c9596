package io.punctual.server.migrate;

import java.util.Map;

/**
 * A job as another library kept it, as far as Punctual takes it over.
 *
 * @param id of the new job; the same however often the old one is read
 * @param dueAt epoch ms
 */
record OldJob(String id, long dueAt, String params, Map<String, String> headers) {}
