/** The HTTP edge: what a refused caller is told. */
@NullMarked
package io.punctual.server.web;

import org.jspecify.annotations.NullMarked;
