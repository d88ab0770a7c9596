/**
 * Service mode: beans of the client in a Spring Boot application, its callback, registry and
 * actuator.
 */
@NullMarked
package io.punctual.spring.client;

import org.jspecify.annotations.NullMarked;
