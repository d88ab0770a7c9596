package io.punctual.wire;

import org.jspecify.annotations.Nullable;

/**
 * The line that answers a {@link CallbackRequest} without jobs, a ping: somebody is there who takes
 * calls of this scheduler for this application. Nothing runs.
 *
 * @param application in lower case
 * @param time epoch milliseconds by the clock of whoever answers
 * @param version of what answers; null if it does not know
 */
public record PingAnswer(String application, long time, @Nullable String version) {}
