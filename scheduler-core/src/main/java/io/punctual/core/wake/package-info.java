/** When a scanner looks next, and how many jobs it may claim. */
@NullMarked
package io.punctual.core.wake;

import org.jspecify.annotations.NullMarked;
