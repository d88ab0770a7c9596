package io.punctual.server.dispatch;

import java.time.Duration;

/**
 * The times by which workers are called.
 *
 * @param connect how long a connection may take
 * @param avoid how long an instance that refused a connection, or answers no job in time, is left
 *     alone; where it answers none, doubled each time up to a minute
 * @param pause how long the jobs of an open circuit wait before one of them probes; doubled with
 *     each probe that fails, up to a minute
 */
record DispatchTimes(Duration connect, Duration avoid, Duration pause) {}
