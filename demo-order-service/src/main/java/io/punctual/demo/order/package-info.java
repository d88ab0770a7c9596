/** A small shop: orders that nobody pays close themselves. */
@NullMarked
package io.punctual.demo.order;

import org.jspecify.annotations.NullMarked;
