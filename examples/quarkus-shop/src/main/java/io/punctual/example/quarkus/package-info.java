/** A shop on Quarkus. */
@NullMarked
package io.punctual.example.quarkus;

import org.jspecify.annotations.NullMarked;
