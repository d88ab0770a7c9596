/**
 * Starts and ends real redis-server processes on loopback: the one on the PATH, or one that travels
 * in a jar. For development and tests, not for production.
 */
@NullMarked
package io.punctual.redis;

import org.jspecify.annotations.NullMarked;
