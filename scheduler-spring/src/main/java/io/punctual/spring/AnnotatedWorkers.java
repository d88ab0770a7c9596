package io.punctual.spring;

import io.punctual.DelayQueueJob;
import io.punctual.DelayedTask;
import io.punctual.RetryPolicy;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.wire.Limits;
import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * The methods with {@link DelayedTask} of all beans. They are found by the beans' types, so that no
 * bean is made for it: workers submit jobs themselves, and may need whoever asks for them. Once all
 * beans are there, the methods are tied to them.
 */
public final class AnnotatedWorkers implements SmartInitializingSingleton {

  private final ConfigurableListableBeanFactory beans;
  private final Payloads payloads;
  // What each bean was taken for when the methods were looked for.
  private final Map<String, Class<?>> types = new LinkedHashMap<>();
  private @Nullable List<AnnotatedWorker> found;
  private volatile @Nullable Map<String, WorkerSettings> settings;
  private final List<Recurring> recurring = new ArrayList<>();

  /** A task type whose method runs by itself. */
  record Recurring(String taskType, String cron, ZoneId zone) {}

  public AnnotatedWorkers(ConfigurableListableBeanFactory beans, Payloads payloads) {
    this.beans = beans;
    this.payloads = payloads;
  }

  /**
   * Adds the methods as workers.
   *
   * @throws WorkerSetupException if a method cannot be one, or its type is taken or is no valid
   *     name
   */
  public void addTo(TaskWorkers workers) {
    for (AnnotatedWorker worker : find()) {
      workers.add(worker.name(), worker);
    }
  }

  /** The task types whose methods run by themselves. */
  synchronized List<Recurring> recurring() {
    var unused = find();
    return List.copyOf(recurring);
  }

  /** What the annotation says of a task type. */
  public WorkerSettings settings(String taskType) {
    Map<String, WorkerSettings> known = settings;
    if (known == null) {
      known = new HashMap<>();
      for (AnnotatedWorker worker : find()) {
        known.put(worker.type(), worker.settings());
      }
      settings = known;
    }
    return known.getOrDefault(taskType, WorkerSettings.NONE);
  }

  /**
   * Ties the methods to their beans.
   *
   * @throws WorkerSetupException if a bean's proxy does not have the method, or a bean turned out
   *     to have one only when it was made
   */
  @Override
  public void afterSingletonsInstantiated() {
    List<AnnotatedWorker> known = find();
    requireNoOthers(known);
    for (AnnotatedWorker worker : known) {
      worker.bind(beans.getBean(worker.beanName()));
    }
  }

  private synchronized List<AnnotatedWorker> find() {
    List<AnnotatedWorker> known = found;
    if (known == null) {
      known = new ArrayList<>();
      types.putAll(types());
      for (Map.Entry<String, Class<?>> bean : types.entrySet()) {
        known.addAll(of(bean.getKey(), bean.getValue()));
      }
      known.forEach(worker -> worker.recurring().ifPresent(recurring::add));
      found = known;
    }
    return known;
  }

  /** A method that is seen now for the first time would never be called, without a word. */
  private synchronized void requireNoOthers(List<AnnotatedWorker> known) {
    Set<String> names = known.stream().map(AnnotatedWorker::name).collect(Collectors.toSet());
    for (Map.Entry<String, Class<?>> bean : types().entrySet()) {
      Class<?> taken = types.get(bean.getKey());
      if (taken == bean.getValue()) {
        continue;
      }
      for (AnnotatedWorker worker : of(bean.getKey(), bean.getValue())) {
        if (!names.contains(worker.name())) {
          throw new WorkerSetupException(
              "@DelayedTask was seen too late: %s (%s). Before it was made, the bean was taken for a %s."
                  .formatted(
                      worker.name(),
                      worker.clazz().getName(),
                      taken == null ? "bean that is not there" : taken.getName()),
              "Let what makes the bean, such as its @Bean method, be declared to return %s."
                  .formatted(worker.clazz().getSimpleName()));
        }
      }
    }
  }

  /** What each bean is, as far as that is known without making it. */
  private Map<String, Class<?>> types() {
    Map<String, Class<?>> known = new LinkedHashMap<>();
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      // Of a scoped bean the proxy is meant, which bears the name without a prefix.
      Class<?> type =
          ScopedProxyUtils.isScopedTarget(name)
              ? null
              : AutoProxyUtils.determineTargetClass(beans, name);
      if (type != null) {
        known.put(name, ClassUtils.getUserClass(type));
      }
    }
    return known;
  }

  private List<AnnotatedWorker> of(String beanName, Class<?> own) {
    if (!AnnotationUtils.isCandidateClass(own, DelayedTask.class)) {
      return List.of();
    }
    MethodIntrospector.MetadataLookup<DelayedTask> marked =
        method -> AnnotatedElementUtils.findMergedAnnotation(method, DelayedTask.class);
    List<AnnotatedWorker> workers = new ArrayList<>();
    for (Map.Entry<Method, DelayedTask> entry :
        MethodIntrospector.selectMethods(own, marked).entrySet()) {
      String name = "%s of bean '%s'".formatted(AnnotatedWorker.shown(entry.getKey()), beanName);
      DelayedTask task = entry.getValue();
      workers.add(
          AnnotatedWorker.of(
              name,
              type(name, task),
              settings(name, task),
              recurring(name, task),
              beanName,
              own,
              entry.getKey(),
              payloads));
    }
    return workers;
  }

  private String type(String name, DelayedTask task) {
    if (task.value().isEmpty() == task.type().isEmpty()) {
      throw new WorkerSetupException(
          "@DelayedTask of %s names %s task type."
              .formatted(name, task.value().isEmpty() ? "no" : "more than one"),
          "Write @DelayedTask(\"order.close\"), or @DelayedTask(type = \"order.close\", ...).");
    }
    return resolve(name, "task type", task.value() + task.type());
  }

  private @Nullable Recurring recurring(String name, DelayedTask task) {
    String cron = resolve(name, "cron", task.cron());
    if (cron.isEmpty()) {
      return null;
    }
    ZoneId zone = setting(name, "zone", task.zone(), AnnotatedWorkers::zone);
    return new Recurring(type(name, task), cron, zone == null ? ZoneOffset.UTC : zone);
  }

  private static ZoneId zone(String text) {
    try {
      return text.equals("UTC") ? ZoneOffset.UTC : ZoneId.of(text);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("it must be a zone such as Europe/Berlin", e);
    }
  }

  private WorkerSettings settings(String name, DelayedTask task) {
    return new WorkerSettings(
        setting(name, "concurrency", task.concurrency(), AnnotatedWorkers::concurrency),
        setting(name, "timeToRun", task.timeToRun(), AnnotatedWorkers::timeToRun),
        setting(name, "retry", task.retry(), RetryPolicy::parse),
        setting(name, "once", task.once(), AnnotatedWorkers::once));
  }

  private <T> @Nullable T setting(
      String name, String attribute, String text, Function<String, T> reader) {
    String value = resolve(name, attribute, text);
    if (value.isEmpty()) {
      return null;
    }
    try {
      return reader.apply(value);
    } catch (IllegalArgumentException e) {
      throw new WorkerSetupException(
          "The %s '%s' of %s is not valid: %s.".formatted(attribute, value, name, e.getMessage()),
          "Correct it in @DelayedTask, or leave it out.");
    }
  }

  private static Integer concurrency(String text) {
    if (!text.matches("\\d{1,5}")
        || Integer.parseInt(text) < 1
        || Integer.parseInt(text) > 10_000) {
      throw new IllegalArgumentException("it must be a number from 1 to 10000");
    }
    return Integer.valueOf(text);
  }

  private static Once once(String text) {
    return switch (text) {
      case "off" -> Once.OFF;
      case "database" -> Once.DATABASE;
      default -> throw new IllegalArgumentException("it must be database or off");
    };
  }

  private static Duration timeToRun(String text) {
    return Limits.requireTimeToRun(DelayQueueJob.parseDuration(text));
  }

  private String resolve(String name, String attribute, String text) {
    try {
      return String.valueOf(beans.resolveEmbeddedValue(text)).strip();
    } catch (IllegalArgumentException e) {
      throw new WorkerSetupException(
          "The %s '%s' of %s cannot be read: %s.".formatted(attribute, text, name, e.getMessage()),
          "Set the property, or write ${name:default}.");
    }
  }
}
