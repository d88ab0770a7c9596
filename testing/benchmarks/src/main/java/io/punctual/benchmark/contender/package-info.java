/** Who takes part: Punctual in its forms, other libraries, and the limits that nothing passes. */
@NullMarked
package io.punctual.benchmark.contender;

import org.jspecify.annotations.NullMarked;
