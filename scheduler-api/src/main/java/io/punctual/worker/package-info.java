/** What the starters share in running workers. */
@NullMarked
package io.punctual.worker;

import org.jspecify.annotations.NullMarked;
