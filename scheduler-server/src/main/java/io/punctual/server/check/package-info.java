/** Tries on the command line whether a server can hold Punctual's jobs. */
@NullMarked
package io.punctual.server.check;

import org.jspecify.annotations.NullMarked;
