/** Plugin mode's connections to the application's Redis. */
@NullMarked
package io.punctual.plugin;

import org.jspecify.annotations.NullMarked;
