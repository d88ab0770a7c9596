/** What clients and starters share in running workers. Applications do not use it. */
@NullMarked
package io.punctual.internal;

import org.jspecify.annotations.NullMarked;
