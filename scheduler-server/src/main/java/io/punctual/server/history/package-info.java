/** Remembers a day of what all queues did, in Redis, for all schedulers. */
@NullMarked
package io.punctual.server.history;

import org.jspecify.annotations.NullMarked;
