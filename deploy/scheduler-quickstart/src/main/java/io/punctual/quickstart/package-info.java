/** The scheduler with a Redis of its own. Not for production: one process, one disk, loopback. */
@NullMarked
package io.punctual.quickstart;

import org.jspecify.annotations.NullMarked;
