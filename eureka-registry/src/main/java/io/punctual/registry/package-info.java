/** A Eureka server, set up so that instances are seen and missed in seconds. */
@NullMarked
package io.punctual.registry;

import org.jspecify.annotations.NullMarked;
