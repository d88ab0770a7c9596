/** Reads the compiled modules and holds them to the shape that the design gives them. */
@NullMarked
package io.punctual.systemtest.architecture;

import org.jspecify.annotations.NullMarked;
