/**
 * Scanners, leases, group commit: what makes jobs go out on time. Knows neither web nor registry.
 */
@NullMarked
package io.punctual.core.engine;

import org.jspecify.annotations.NullMarked;
