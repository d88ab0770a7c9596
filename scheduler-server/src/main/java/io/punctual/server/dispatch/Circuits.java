package io.punctual.server.dispatch;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The circuits of all applications. */
final class Circuits {

  private final CircuitOptions options;
  private final Map<String, Circuit> circuits = new ConcurrentHashMap<>();

  Circuits(CircuitOptions options) {
    this.options = options;
  }

  /** Null where there is no limit. */
  @Nullable Circuit of(String application) {
    return options.failures() == 0
        ? null
        : circuits.computeIfAbsent(application, name -> new Circuit(name, options));
  }

  /** How many of so many jobs the application may get now. */
  int free(String application, int wanted) {
    Circuit circuit = of(application);
    return circuit == null ? wanted : Math.min(wanted, circuit.free());
  }

  boolean isOpen(String application) {
    Circuit circuit = circuits.get(application);
    return circuit != null && circuit.isOpen();
  }

  List<String> open() {
    return circuits.entrySet().stream()
        .filter(entry -> entry.getValue().isOpen())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }
}
