/** Properties, and the wiring of engine, store and dispatch. */
@NullMarked
package io.punctual.server.config;

import org.jspecify.annotations.NullMarked;
