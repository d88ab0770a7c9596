/** A real Redis for tests: one shared server, and set-ups of one's own for tests that break it. */
@NullMarked
package io.punctual.test.redis;

import org.jspecify.annotations.NullMarked;
