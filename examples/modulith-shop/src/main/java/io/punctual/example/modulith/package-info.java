/** A shop whose events become jobs. */
@NullMarked
package io.punctual.example.modulith;

import org.jspecify.annotations.NullMarked;
