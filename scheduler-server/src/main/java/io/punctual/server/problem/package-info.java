/** The errors that callers are told, whichever way they call. Knows nothing of HTTP requests. */
@NullMarked
package io.punctual.server.problem;

import org.jspecify.annotations.NullMarked;
