/** How schedulers come to know the instances that they call. */
@NullMarked
package io.punctual.client.registration;

import org.jspecify.annotations.NullMarked;
