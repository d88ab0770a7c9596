package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.health.InstanceHealth;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.Status;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.registry.Registries;
import io.punctual.server.registry.RegistryContact;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.text.PrintableException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/** Who would run jobs, who schedules, and whether they reach one another. */
@Controller
class WorkersPageController {

  private static final Logger log = LoggerFactory.getLogger(WorkersPageController.class);
  private static final int MAX = 200;
  private static final int MAX_TEXT = 300;
  private static final String SCHEDULERS = "punctual-scheduler";

  private final Engine engine;
  private final Prober prober;
  private final HealthChecks health;
  private final Registries registries;
  private final RegistryContact registry;
  private final ServedTypes served;

  WorkersPageController(
      Engine engine,
      Prober prober,
      HealthChecks health,
      Registries registries,
      RegistryContact registry,
      ServedTypes served) {
    this.engine = engine;
    this.prober = prober;
    this.health = health;
    this.registries = registries;
    this.registry = registry;
    this.served = served;
  }

  @Allowed(Role.VIEWER)
  @GetMapping("/console/workers")
  String show(@RequestParam(defaultValue = "") String q, Model model) {
    String wanted = q.strip().toLowerCase(Locale.ROOT);
    List<WorkerReport> all = prober.workers(null);
    Set<String> outliers = InstanceHealth.outlierKeys(all);
    List<WorkerReport> found =
        all.stream()
            .filter(
                worker ->
                    (worker.key() + " " + Objects.requireNonNullElse(worker.release(), ""))
                        .toLowerCase(Locale.ROOT)
                        .contains(wanted))
            .sorted(worstFirst(outliers))
            .toList();
    model.addAttribute("total", all.size());
    model.addAttribute(
        "troubled", all.stream().filter(worker -> InstanceHealth.state(worker).isBad()).count());
    model.addAttribute("badReleases", InstanceHealth.instancesOfBadReleases(all));
    model.addAttribute("states", states(all));
    model.addAttribute("failing", failing(all));
    model.addAttribute("members", engine.members().size());
    model.addAttribute("q", q);
    model.addAttribute("count", found.size());
    model.addAttribute("workers", found.subList(0, Math.min(MAX, found.size())));
    model.addAttribute("pullers", pullers(wanted));
    model.addAttribute("schedulers", schedulers());
    model.addAttribute("registry", !registry.views().isEmpty());
    return "workers";
  }

  /** Those that fail far more often than others, then all that an operator should check. */
  static Comparator<WorkerReport> worstFirst(Set<String> outliers) {
    return Comparator.comparing((WorkerReport worker) -> !outliers.contains(worker.key()))
        .thenComparing(worker -> !InstanceHealth.state(worker).isBad())
        .thenComparing(WorkerReport::key, NaturalOrder.NAMES);
  }

  /** The states of instances, as words, by key. */
  static Map<String, String> states(List<WorkerReport> all) {
    return all.stream()
        .collect(
            Collectors.toMap(
                WorkerReport::key,
                worker -> InstanceHealth.state(worker).word(),
                (one, other) -> one));
  }

  /** The keys of the instances that fail, whether the others do so or not. */
  static Set<String> failing(List<WorkerReport> all) {
    return all.stream()
        .filter(InstanceHealth::isFailing)
        .map(WorkerReport::key)
        .collect(Collectors.toSet());
  }

  private Map<QueueName, List<ServedTypes.Puller>> pullers(String wanted) {
    Map<QueueName, List<ServedTypes.Puller>> found = new TreeMap<>(NaturalOrder.QUEUES);
    int left = MAX;
    for (var queue : served.pullers().entrySet()) {
      if (left > 0 && queue.getKey().toString().toLowerCase(Locale.ROOT).contains(wanted)) {
        List<ServedTypes.Puller> some = queue.getValue();
        found.put(queue.getKey(), some.subList(0, Math.min(left, some.size())));
        left -= some.size();
      }
    }
    return found;
  }

  /**
   * What the registry says of a scheduler. Whoever registers says it: it is text, and none of it is
   * asked for while the page is being written.
   */
  record Scheduler(String at, String id) {

    static Scheduler of(ServiceInstance instance) {
      return new Scheduler(
          cut(
              (instance.isSecure() ? "https://" : "http://")
                  + instance.getHost()
                  + ":"
                  + instance.getPort()),
          cut(Objects.requireNonNullElse(instance.getInstanceId(), "")));
    }

    private static String cut(String text) {
      return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "..." : text;
    }
  }

  private List<Scheduler> schedulers() {
    List<Scheduler> schedulers = new ArrayList<>();
    try {
      for (ServiceInstance instance : registries.instances(SCHEDULERS)) {
        if (schedulers.size() < MAX) {
          schedulers.add(Scheduler.of(instance));
        }
      }
    } catch (RuntimeException e) {
      log.debug("Not all schedulers in the registry could be read", PrintableException.of(e));
    }
    return schedulers;
  }

  /** Calls an instance now, with nothing to run. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/workers/probe")
  String probe(
      @RequestParam String application,
      @RequestParam String instance,
      RedirectAttributes redirect) {
    var unused = prober.probe(application, instance);
    redirect.addFlashAttribute("told", "probe");
    return "redirect:/console/workers";
  }

  /** All checks, the worst first. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/doctor")
  String doctor(Model model) {
    List<Finding> checks =
        health.all(null).stream()
            .sorted(Comparator.comparing(Finding::severity).reversed())
            .toList();
    List<Finding> bad = checks.stream().filter(check -> check.severity() != Status.OK).toList();
    model.addAttribute("bads", bad);
    model.addAttribute("goods", checks.subList(bad.size(), checks.size()));
    model.addAttribute(
        "goodNames",
        checks.stream()
            .skip(bad.size())
            .map(check -> check.code().word())
            .distinct()
            .collect(Collectors.joining(", ")));
    model.addAttribute("bad", bad.size());
    return "doctor";
  }
}
