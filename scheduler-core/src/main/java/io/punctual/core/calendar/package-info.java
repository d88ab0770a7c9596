/** Named lists of dates on which jobs do not start. */
@NullMarked
package io.punctual.core.calendar;

import org.jspecify.annotations.NullMarked;
