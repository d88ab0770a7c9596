/**
 * Plugin mode: the application runs its own jobs, on threads of its own, with a store alone. Knows
 * no web, no registry and no Redis.
 */
@NullMarked
package io.punctual.spring.plugin;

import org.jspecify.annotations.NullMarked;
