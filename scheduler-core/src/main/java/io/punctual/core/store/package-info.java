/** The state machine on Redis: one Lua script per transition. The only package that knows Redis. */
@NullMarked
package io.punctual.core.store;

import org.jspecify.annotations.NullMarked;
