/** The HTTP API: jobs and queues, and a problem document for every error. Knows no registry. */
@NullMarked
package io.punctual.server.api;

import org.jspecify.annotations.NullMarked;
