/** The registry: where schedulers are found, and instances with what they run. */
@NullMarked
package io.punctual.spring.client.registry;

import org.jspecify.annotations.NullMarked;
