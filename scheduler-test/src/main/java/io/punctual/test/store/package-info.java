/**
 * The state machine once more, in memory and in plain Java, and the complete contents of a bucket
 * as one comparable value. The scripts are held to this by tests that walk both through the same
 * steps.
 */
@NullMarked
package io.punctual.test.store;

import org.jspecify.annotations.NullMarked;
