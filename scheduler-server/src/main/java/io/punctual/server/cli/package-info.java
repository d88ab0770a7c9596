/** Makes and revokes credentials on the command line. */
@NullMarked
package io.punctual.server.cli;

import org.jspecify.annotations.NullMarked;
