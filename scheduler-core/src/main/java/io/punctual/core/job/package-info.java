/**
 * What a job is while the scheduler keeps it: content, state, counts, names of queues and buckets.
 */
@NullMarked
package io.punctual.core.job;

import org.jspecify.annotations.NullMarked;
