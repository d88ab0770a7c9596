/** Makes the beans. */
@NullMarked
package io.punctual.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
