/**
 * What stands behind {@link io.punctual.TaskSubmitService}, and what applications may add to it.
 */
@NullMarked
package io.punctual.spi;

import org.jspecify.annotations.NullMarked;
