/** A worker application whose jobs say what they do, and which writes down each invocation. */
@NullMarked
package io.punctual.systemtest.worker;

import org.jspecify.annotations.NullMarked;
