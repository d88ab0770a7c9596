/** What operators look at: pages made by the server, under {@code /console}. */
@NullMarked
package io.punctual.server.console;

import org.jspecify.annotations.NullMarked;
