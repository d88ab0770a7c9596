package io.punctual.spring.autoconfigure;

import io.punctual.internal.TaskWorkers;
import io.punctual.spring.NearMiss;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The workers that properties name. */
final class ConfiguredWorkers {

  private static final Logger log = LoggerFactory.getLogger(ConfiguredWorkers.class);

  private ConfiguredWorkers() {}

  /** Switches off those that shall not run here, and warns of those that nobody has. */
  static void apply(PunctualProperties properties, Environment environment, TaskWorkers workers) {
    Set<String> types = workers.types();
    for (String type : named(environment)) {
      // Without any worker it only submits, for others that have this one.
      if (!types.contains(type) && !types.isEmpty()) {
        log.warn(
            "Punctual: punctual.workers sets something for the task type '{}', which no"
                + " worker here has{}; there are {}",
            type,
            hint(type, types),
            types);
      }
    }
    properties
        .workers()
        .forEach(
            (type, worker) -> {
              if (!worker.enabled() && workers.switchOff(type)) {
                log.info(
                    "Punctual: jobs of {} do not run in this instance, as it is configured", type);
              }
            });
  }

  // Not of the bound properties: a name with dots that stands in no brackets is not among them.
  private static Set<String> named(Environment environment) {
    return Binder.get(environment)
        .bind("punctual.workers", Bindable.mapOf(String.class, Object.class))
        .orElseGet(Map::of)
        .keySet();
  }

  private static String hint(String type, Set<String> types) {
    return NearMiss.of(type, types)
        .map(
            near ->
                ". Is '%s' meant? Its settings are punctual.workers.\"[%s]\".*: with quotes and brackets"
                    .formatted(near, near))
        .orElse("");
  }
}
