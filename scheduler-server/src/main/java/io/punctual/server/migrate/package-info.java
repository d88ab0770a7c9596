/**
 * Moves waiting jobs on the command line out of another library's Redis or database into Punctual.
 */
@NullMarked
package io.punctual.server.migrate;

import org.jspecify.annotations.NullMarked;
