/** The client in plain Java: {@link io.punctual.client.PunctualClient} is where to begin. */
@NullMarked
package io.punctual.client;

import org.jspecify.annotations.NullMarked;
