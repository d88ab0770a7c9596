package io.punctual.plugin;

import io.punctual.Limits;
import io.punctual.TaskWorker;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The workers of this application, by task type. */
final class Workers {

  private final Map<String, TaskWorker> byType = new TreeMap<>();

  /**
   * Collects the workers.
   *
   * @param beans by bean name
   * @throws PluginStartException if a type is taken twice or is no valid name
   */
  Workers(Map<String, TaskWorker> beans) {
    Map<String, String> names = new TreeMap<>();
    beans.forEach(
        (name, worker) -> {
          String type = worker.type();
          if (type == null || !Limits.NAME.matcher(type).matches()) {
            throw new PluginStartException(
                "The task type '%s' of bean '%s' (%s) is not valid."
                    .formatted(type, name, worker.clazz().getName()),
                "Let type() return 1 to 128 characters of [A-Za-z0-9._:-].");
          }
          TaskWorker other = byType.put(type, worker);
          String otherName = names.put(type, name);
          if (other != null) {
            throw new PluginStartException(
                "The task type '%s' is taken by two workers: bean '%s' (%s) and bean '%s' (%s)."
                    .formatted(
                        type, otherName, other.clazz().getName(), name, worker.clazz().getName()),
                "Give one of them another type(), or remove it.");
          }
        });
  }

  @Nullable TaskWorker find(String type) {
    return byType.get(type);
  }

  Set<String> types() {
    return byType.keySet();
  }
}
