/**
 * Submits and invocations of workers as observations of Micrometer: names, key values, and the
 * conventions by which an application replaces them.
 */
@NullMarked
package io.punctual.spring.observation;

import org.jspecify.annotations.NullMarked;
