/** Calls to the scheduler as rows of the application's own transactions, and what relays them. */
@NullMarked
package io.punctual.spring.outbox;

import org.jspecify.annotations.NullMarked;
