/** What applications call: workers, jobs, submitting, and what may go wrong. */
@NullMarked
package io.punctual;

import org.jspecify.annotations.NullMarked;
