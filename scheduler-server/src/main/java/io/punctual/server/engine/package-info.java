/** Starts the engine on Redis with the application, and stops it. */
@NullMarked
package io.punctual.server.engine;

import org.jspecify.annotations.NullMarked;
