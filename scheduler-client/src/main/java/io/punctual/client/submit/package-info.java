/** Hands jobs to a scheduler, trying another one where one does not answer. */
@NullMarked
package io.punctual.client.submit;

import org.jspecify.annotations.NullMarked;
