/**
 * Plugin mode: the application runs its own jobs, on threads of its own, with Redis alone. Knows no
 * web and no registry.
 */
@NullMarked
package io.punctual.plugin;

import org.jspecify.annotations.NullMarked;
