/** Wires the other packages to an engine, starts and stops it. No other package knows this one. */
@NullMarked
package io.punctual.core.runtime;

import org.jspecify.annotations.NullMarked;
