/**
 * Runs Lua scripts on Redis, on one server or on a cluster, and waits for what must confirm them.
 */
@NullMarked
package io.punctual.core.store.redis.script;

import org.jspecify.annotations.NullMarked;
