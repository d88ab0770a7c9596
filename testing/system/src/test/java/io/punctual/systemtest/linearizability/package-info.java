/**
 * Checks that the life of each job, as clients and workers saw it, is one that a single job could
 * have led: recorded histories against a sequential model.
 */
@NullMarked
package io.punctual.systemtest.linearizability;

import org.jspecify.annotations.NullMarked;
