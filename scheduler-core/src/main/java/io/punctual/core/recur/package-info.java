/** Fires recurring schedules, and changes them. */
@NullMarked
package io.punctual.core.recur;

import org.jspecify.annotations.NullMarked;
