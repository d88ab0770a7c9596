/** A shop in plain Java. */
@NullMarked
package io.punctual.example;

import org.jspecify.annotations.NullMarked;
