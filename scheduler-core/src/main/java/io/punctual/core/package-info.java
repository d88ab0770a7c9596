/** The contract of the engine: what the server, the plugin starter and the test kit see first. */
@NullMarked
package io.punctual.core;

import org.jspecify.annotations.NullMarked;
