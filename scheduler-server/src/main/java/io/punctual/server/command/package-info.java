/** The command protocol: one address for all calls. An adapter over the use cases. */
@NullMarked
package io.punctual.server.command;

import org.jspecify.annotations.NullMarked;
