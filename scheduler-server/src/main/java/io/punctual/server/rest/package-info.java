/** The HTTP API: routes, and the form of requests and answers. No other package imports it. */
@NullMarked
package io.punctual.server.rest;

import org.jspecify.annotations.NullMarked;
