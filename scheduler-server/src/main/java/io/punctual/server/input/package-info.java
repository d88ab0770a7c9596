/** Binds requests to records and checks their values. */
@NullMarked
package io.punctual.server.input;

import org.jspecify.annotations.NullMarked;
