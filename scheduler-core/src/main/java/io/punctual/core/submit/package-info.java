/** Stores submitted jobs, in groups. */
@NullMarked
package io.punctual.core.submit;

import org.jspecify.annotations.NullMarked;
