/** Applies events to the jobs that name them. */
@NullMarked
package io.punctual.core.event;

import org.jspecify.annotations.NullMarked;
