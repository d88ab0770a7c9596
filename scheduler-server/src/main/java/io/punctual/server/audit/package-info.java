/** Records what operators did. */
@NullMarked
package io.punctual.server.audit;

import org.jspecify.annotations.NullMarked;
