/** When a job may start, besides its due time. Computes only. */
@NullMarked
package io.punctual.core.times;

import org.jspecify.annotations.NullMarked;
