/** Finds out why something does not work, and says how to cure it. */
@NullMarked
package io.punctual.server.doctor;

import org.jspecify.annotations.NullMarked;
