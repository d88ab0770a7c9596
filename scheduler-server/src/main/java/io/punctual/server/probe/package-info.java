/** Calls workers without a job, and says what is wrong and how to repair it. */
@NullMarked
package io.punctual.server.probe;

import org.jspecify.annotations.NullMarked;
