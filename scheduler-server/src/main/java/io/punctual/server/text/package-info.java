/** Texts from outside, made fit for a line of a log. */
@NullMarked
package io.punctual.server.text;

import org.jspecify.annotations.NullMarked;
