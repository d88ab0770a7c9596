/** Callbacks behind a reactive web server. */
@NullMarked
package io.punctual.spring.client.reactive;

import org.jspecify.annotations.NullMarked;
