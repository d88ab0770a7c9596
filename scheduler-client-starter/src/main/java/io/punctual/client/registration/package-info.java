/** Tells the registry which task types this application runs. */
@NullMarked
package io.punctual.client.registration;

import org.jspecify.annotations.NullMarked;
