/** The words of recurring schedules, and of the rules about when a job may start. */
@NullMarked
package io.punctual.schedule;

import org.jspecify.annotations.NullMarked;
