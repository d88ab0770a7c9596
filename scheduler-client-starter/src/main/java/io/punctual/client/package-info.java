/** Service mode for an application: its workers, and what they have in common. */
@NullMarked
package io.punctual.client;

import org.jspecify.annotations.NullMarked;
