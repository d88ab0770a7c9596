/** The same work for everybody: submit, lateness, drain, memory. */
@NullMarked
package io.punctual.benchmark.contest;

import org.jspecify.annotations.NullMarked;
