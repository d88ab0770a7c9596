/** The smallest application; by itself, so that it finds no other components. */
@NullMarked
package io.punctual.systemtest.guide.bare;

import org.jspecify.annotations.NullMarked;
