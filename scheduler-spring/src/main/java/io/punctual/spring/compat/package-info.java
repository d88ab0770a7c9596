/** What lines of Spring do differently. */
@NullMarked
package io.punctual.spring.compat;

import org.jspecify.annotations.NullMarked;
