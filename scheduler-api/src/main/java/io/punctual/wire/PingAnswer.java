package io.punctual.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The line that answers a {@link CallbackRequest} without jobs, a ping: somebody is there who takes
 * calls of this scheduler for this application. Nothing runs.
 *
 * @param application in lower case
 * @param time epoch milliseconds by the clock of whoever answers
 * @param version of what answers; null if it does not know
 * @param taskTypes that it runs, at most {@value WorkerMetadata#MAX_TASK_TYPES}; null if it does
 *     not say: then those count that its registry has
 * @param concurrency jobs that it takes at once, 1 to {@value WorkerMetadata#MAX_CONCURRENCY}; null
 *     if it does not say
 * @param release of the application, as {@link WorkerMetadata#isRelease} allows; null if it does
 *     not say
 */
public record PingAnswer(
    String application,
    long time,
    @Nullable String version,
    @Nullable List<String> taskTypes,
    @Nullable Integer concurrency,
    @Nullable String release) {}
