package io.punctual.server.registry;

import io.punctual.wire.WorkerMetadata;
import java.net.URI;

/**
 * One instance of an application that runs jobs.
 *
 * @param id unique in its application
 * @param application in lower case
 * @param callback where to POST
 * @param source the word for where it is registered
 */
public record WorkerInstance(
    String id, String application, URI callback, WorkerMetadata metadata, String source) {}
