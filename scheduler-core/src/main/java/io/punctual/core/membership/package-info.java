/** The engines on a store, and which of them looks at a bucket when a job is due. */
@NullMarked
package io.punctual.core.membership;

import org.jspecify.annotations.NullMarked;
