package io.punctual.core.store.query;

import java.util.List;

/**
 * The number of waiting jobs by due time.
 *
 * @param now epoch ms at which the first interval begins
 * @param ready due by then
 * @param counts of each interval: after its beginning, up to its end
 */
public record Forecast(long now, long ready, List<Long> counts) {}
