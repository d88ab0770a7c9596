/** The words of recurring schedules. */
@NullMarked
package io.punctual.schedule;

import org.jspecify.annotations.NullMarked;
