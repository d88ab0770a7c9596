/** What actuator tells of the scheduler's health. */
@NullMarked
package io.punctual.server.health;

import org.jspecify.annotations.NullMarked;
