/** Code that differs between lines of Spring. */
@NullMarked
package io.punctual.spring.compat;

import org.jspecify.annotations.NullMarked;
