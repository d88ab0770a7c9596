/** Moves waiting jobs on the command line out of another library's Redis into Punctual. */
@NullMarked
package io.punctual.server.migrate;

import org.jspecify.annotations.NullMarked;
