/** A WebFlux application. */
@NullMarked
package io.punctual.systemtest.reactive;

import org.jspecify.annotations.NullMarked;
