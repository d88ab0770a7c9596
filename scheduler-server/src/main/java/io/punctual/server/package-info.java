/** The central scheduler: HTTP in, Redis behind, callbacks out. */
@NullMarked
package io.punctual.server;

import org.jspecify.annotations.NullMarked;
