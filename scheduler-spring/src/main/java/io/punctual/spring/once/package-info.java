/** Jobs that take effect once although they may be delivered more than once. */
@NullMarked
package io.punctual.spring.once;

import org.jspecify.annotations.NullMarked;
