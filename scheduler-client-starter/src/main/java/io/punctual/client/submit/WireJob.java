package io.punctual.client.submit;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job as schedulers read it; what is null or empty is left out. A type of its own, since its
 * names are encoded only once; public for native images.
 *
 * @param delayTime epoch ms; either this or the delay
 * @param delay ms
 * @param timeToRun ms
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record WireJob(
    String application,
    String taskType,
    String taskId,
    @Nullable Long delayTime,
    @Nullable Long delay,
    String params,
    @Nullable Long timeToRun,
    @Nullable String retry,
    List<String> tags,
    Map<String, String> headers) {}
