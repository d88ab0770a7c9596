/** What is counted for those who watch. */
@NullMarked
package io.punctual.server.metrics;

import org.jspecify.annotations.NullMarked;
