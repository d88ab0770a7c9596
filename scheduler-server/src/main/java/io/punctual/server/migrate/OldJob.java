package io.punctual.server.migrate;

import java.util.List;
import java.util.Map;

/**
 * A job as another library kept it, as far as Punctual takes it over.
 *
 * @param id of the new job; the same however often the old one is read
 * @param dueAt epoch ms
 * @param keys further keys of the old one in Redis, which go with it; the first one is there until
 *     the old side removes the job
 */
record OldJob(String id, long dueAt, String params, Map<String, String> headers, List<String> keys)
    implements OldWork {}
