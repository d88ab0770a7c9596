/** Sends due jobs to instances and reads their answers. Knows nothing of Redis. */
@NullMarked
package io.punctual.server.dispatch;

import org.jspecify.annotations.NullMarked;
