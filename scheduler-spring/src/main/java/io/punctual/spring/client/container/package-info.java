/** Schedulers in containers, as Spring Boot starts or finds them in development and in tests. */
@NullMarked
package io.punctual.spring.client.container;

import org.jspecify.annotations.NullMarked;
