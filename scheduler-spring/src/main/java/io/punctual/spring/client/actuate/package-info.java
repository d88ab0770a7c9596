/** What the application says of its part in Punctual, by Spring Boot's actuator. */
@NullMarked
package io.punctual.spring.client.actuate;

import org.jspecify.annotations.NullMarked;
