/** From the claim of a job to the end of its attempt: deliveries, leases, acknowledgements. */
@NullMarked
package io.punctual.core.deliver;

import org.jspecify.annotations.NullMarked;
