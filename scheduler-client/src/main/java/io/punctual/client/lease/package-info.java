/** The leases of jobs that schedulers have given to this application. */
@NullMarked
package io.punctual.client.lease;

import org.jspecify.annotations.NullMarked;
