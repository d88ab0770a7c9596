/** What an application has of the engine that runs in its own process. */
@NullMarked
package io.punctual.core.local;

import org.jspecify.annotations.NullMarked;
