/** Names of queues and their buckets. Knows nothing of Redis. */
@NullMarked
package io.punctual.core.queue;

import org.jspecify.annotations.NullMarked;
