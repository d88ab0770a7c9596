/** Events of Spring Modulith that become jobs. */
@NullMarked
package io.punctual.spring.modulith;

import org.jspecify.annotations.NullMarked;
