package io.punctual.core.store.query;

import java.util.List;

/**
 * How many waiting jobs are due when.
 *
 * @param now epoch ms at which the first interval begins
 * @param ready due by then
 * @param counts of each interval: after its beginning, up to its end
 */
public record Forecast(long now, long ready, List<Long> counts) {}
