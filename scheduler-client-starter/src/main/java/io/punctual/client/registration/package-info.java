/** Takes part with the application context: in the registry, or by pulling. */
@NullMarked
package io.punctual.client.registration;

import org.jspecify.annotations.NullMarked;
