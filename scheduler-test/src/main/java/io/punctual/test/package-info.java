/**
 * The test kit: the scheduler in memory, for tests of applications. It has the state machine and
 * the engine of the real one, and a clock that moves only when told.
 */
@NullMarked
package io.punctual.test;

import org.jspecify.annotations.NullMarked;
