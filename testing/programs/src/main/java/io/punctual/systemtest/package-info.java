/** Starts the whole system as real processes, breaks it, and accounts for every job afterwards. */
@NullMarked
package io.punctual.systemtest;

import org.jspecify.annotations.NullMarked;
