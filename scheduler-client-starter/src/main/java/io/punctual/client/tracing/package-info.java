/** The trace of whoever submits a job goes on where it runs. */
@NullMarked
package io.punctual.client.tracing;

import org.jspecify.annotations.NullMarked;
