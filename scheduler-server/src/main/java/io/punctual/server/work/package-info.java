/** Tasks that repeat, and reads that callers share. */
@NullMarked
package io.punctual.server.work;

import org.jspecify.annotations.NullMarked;
