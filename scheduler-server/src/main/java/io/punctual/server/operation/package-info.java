/** How far work on many jobs is, as all schedulers see it. */
@NullMarked
package io.punctual.server.operation;

import org.jspecify.annotations.NullMarked;
