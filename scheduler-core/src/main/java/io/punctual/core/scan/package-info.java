/** Looks at a bucket when one of its jobs is due, and hands out what it claims. */
@NullMarked
package io.punctual.core.scan;

import org.jspecify.annotations.NullMarked;
