/** Spring Boot's view of all this. */
@NullMarked
package io.punctual.client.autoconfigure;

import org.jspecify.annotations.NullMarked;
