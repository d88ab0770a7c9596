/** Runs the jobs of an instance: so many at once, each for its time to run, each delivery once. */
@NullMarked
package io.punctual.client.run;

import org.jspecify.annotations.NullMarked;
