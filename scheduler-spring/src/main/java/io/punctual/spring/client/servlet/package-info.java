/** Callbacks behind a servlet container. */
@NullMarked
package io.punctual.spring.client.servlet;

import org.jspecify.annotations.NullMarked;
