/** Fetches jobs from schedulers, where schedulers cannot reach the application. */
@NullMarked
package io.punctual.client.pull;

import org.jspecify.annotations.NullMarked;
