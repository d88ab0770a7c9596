/** What a job is while the scheduler keeps it: states, outcomes, counts. Knows nothing of Redis. */
@NullMarked
package io.punctual.core.job;

import org.jspecify.annotations.NullMarked;
