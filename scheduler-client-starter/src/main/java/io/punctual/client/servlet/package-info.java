/** Callbacks behind a servlet container. */
@NullMarked
package io.punctual.client.servlet;

import org.jspecify.annotations.NullMarked;
