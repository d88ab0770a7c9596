/** A whole system in which something is always broken. */
@NullMarked
package io.punctual.systemtest.chaos;

import org.jspecify.annotations.NullMarked;
