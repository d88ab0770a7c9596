/** Who runs which task type, as the registry shows it. */
@NullMarked
package io.punctual.server.registry;

import org.jspecify.annotations.NullMarked;
