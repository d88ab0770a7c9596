/**
 * The store on Redis: one Lua script for each transition. Only this package and its sub-package
 * know Redis.
 */
@NullMarked
package io.punctual.core.store.redis;

import org.jspecify.annotations.NullMarked;
