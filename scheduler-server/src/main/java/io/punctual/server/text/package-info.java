/** Texts from outside, made fit for a line of a log, and our own for people. */
@NullMarked
package io.punctual.server.text;

import org.jspecify.annotations.NullMarked;
