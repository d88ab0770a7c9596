package io.punctual.server.registry;

import io.punctual.wire.WorkerMetadata;
import java.net.URI;

/**
 * One instance of an application that runs jobs.
 *
 * @param id unique in the registry
 * @param application in lower case
 * @param callback where to POST
 */
public record WorkerInstance(
    String id, String application, URI callback, WorkerMetadata metadata) {}
