/** What schedulers see of this instance, told where its developer looks. */
@NullMarked
package io.punctual.client.doctor;

import org.jspecify.annotations.NullMarked;
