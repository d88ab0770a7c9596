/** When a recurring schedule fires. Computes only: no store, no clock, no threads. */
@NullMarked
package io.punctual.core.schedule;

import org.jspecify.annotations.NullMarked;
