/**
 * Calls instances over HTTP: the two callback protocols, signatures, limits of time and memory, and
 * the addresses that may be called. Knows neither the choice of an instance nor Redis.
 */
@NullMarked
package io.punctual.server.dispatch.callback;

import org.jspecify.annotations.NullMarked;
