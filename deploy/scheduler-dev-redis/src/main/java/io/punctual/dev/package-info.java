/** A Redis for development, started and ended by the application itself. */
@NullMarked
package io.punctual.dev;

import org.jspecify.annotations.NullMarked;
