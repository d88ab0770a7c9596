/** The partner who is told of payments: another company, played by the shop itself. */
@NullMarked
package io.punctual.demo.order.partner;

import org.jspecify.annotations.NullMarked;
