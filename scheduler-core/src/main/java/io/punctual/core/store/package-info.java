/** The port to the store: each transition with its request and its answer. Knows no Redis. */
@NullMarked
package io.punctual.core.store;

import org.jspecify.annotations.NullMarked;
