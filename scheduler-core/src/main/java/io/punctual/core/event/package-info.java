/** Stores submitted jobs, in groups. */
@NullMarked
package io.punctual.core.event;

import org.jspecify.annotations.NullMarked;
