/** Measures the whole system on real processes, and prints what it measured. */
@NullMarked
package io.punctual.benchmark;

import org.jspecify.annotations.NullMarked;
