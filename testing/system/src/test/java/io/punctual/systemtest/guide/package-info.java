/** The code of docs/starter.md, which is compiled and run. */
@NullMarked
package io.punctual.systemtest.guide;

import org.jspecify.annotations.NullMarked;
