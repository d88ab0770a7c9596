/** Holds up the jobs of a queue while all that are sent fail, and eases a backlog in. */
@NullMarked
package io.punctual.server.dispatch.circuit;

import org.jspecify.annotations.NullMarked;
