/** The use cases: what can be done with jobs, for the API and the console alike. */
@NullMarked
package io.punctual.server.jobs;

import org.jspecify.annotations.NullMarked;
