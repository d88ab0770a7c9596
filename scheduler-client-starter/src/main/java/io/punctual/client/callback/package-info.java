/** The path that schedulers call, and the running of what they bring. */
@NullMarked
package io.punctual.client.callback;

import org.jspecify.annotations.NullMarked;
