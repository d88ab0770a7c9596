/** How the engine works in the background: threads, group commit, back-off, defects. */
@NullMarked
package io.punctual.core.work;

import org.jspecify.annotations.NullMarked;
