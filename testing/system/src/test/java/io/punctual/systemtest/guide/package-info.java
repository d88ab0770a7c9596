/** The code of the guides, which is compiled and run. */
@NullMarked
package io.punctual.systemtest.guide;

import org.jspecify.annotations.NullMarked;
