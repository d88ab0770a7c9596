package io.punctual.spring;

import io.punctual.DelayedTask;
import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskWorker;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spring.compat.ParameterNullness;
import io.punctual.wire.Limits;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.CoroutinesUtils;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/** A method with {@link DelayedTask} as a worker. */
final class AnnotatedWorker implements TaskWorker {

  /** Where one parameter comes from. */
  private interface Argument {
    @Nullable Object of(String params, TaskContext context);
  }

  /** The method as the bean, perhaps a proxy, has it. */
  private record Bound(Object bean, Method method) {}

  private final String name;
  private final String type;
  private final WorkerSettings settings;
  private final AnnotatedWorkers.@Nullable Recurring recurring;
  private final String beanName;
  private final Class<?> beanType;
  private final Method method;
  private final boolean suspending;
  private final List<Argument> arguments;
  private volatile @Nullable Bound bound;

  private AnnotatedWorker(
      String name,
      String type,
      WorkerSettings settings,
      AnnotatedWorkers.@Nullable Recurring recurring,
      String beanName,
      Class<?> beanType,
      Method method,
      boolean suspending,
      List<Argument> arguments) {
    this.name = name;
    this.type = type;
    this.settings = settings;
    this.recurring = recurring;
    this.beanName = beanName;
    this.beanType = beanType;
    this.method = method;
    this.suspending = suspending;
    this.arguments = arguments;
  }

  /**
   * A method of a bean.
   *
   * @param name what messages call it
   * @throws WorkerSetupException if it cannot be a worker
   */
  static AnnotatedWorker of(
      String name,
      String type,
      WorkerSettings settings,
      AnnotatedWorkers.@Nullable Recurring recurring,
      String beanName,
      Class<?> beanType,
      Method method,
      Payloads payloads) {
    if (Modifier.isPrivate(method.getModifiers())) {
      throw new WorkerSetupException(
          "@DelayedTask is on a private method: %s (%s).".formatted(name, beanType.getName()),
          "Make it package-private or public.");
    }
    boolean suspending = KotlinDetector.isSuspendingFunction(method);
    if (suspending && !SuspendFunction.canBeCalled()) {
      throw new WorkerSetupException(
          "@DelayedTask is on a suspend function: %s (%s). What calls such a function is not on the class path."
              .formatted(name, beanType.getName()),
          "Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor and org.jetbrains.kotlin:kotlin-reflect.");
    }
    // As the source has it: a suspend function's own return type is hidden in bytecode.
    Class<?> returned = new MethodParameter(method, -1).getParameterType();
    if (returned != void.class
        && (suspending || !CompletionStage.class.isAssignableFrom(returned))) {
      throw new WorkerSetupException(
          "@DelayedTask is on a method that returns a %s: %s (%s). It would be ignored, and not waited for."
              .formatted(returned.getSimpleName(), name, beanType.getName()),
          "Let it return nothing, or a CompletionStage where the work goes on after the call, and throw an"
              + " exception where the job failed.");
    }
    return new AnnotatedWorker(
        name,
        type,
        settings,
        recurring,
        beanName,
        beanType,
        method,
        suspending,
        arguments(name, beanType, method, suspending, payloads));
  }

  private static List<Argument> arguments(
      String name, Class<?> beanType, Method method, boolean suspending, Payloads payloads) {
    List<Argument> arguments = new ArrayList<>();
    List<String> read = new ArrayList<>();
    Parameter[] parameters = method.getParameters();
    // The last one of a suspend function is the compiler's.
    int own = suspending ? parameters.length - 1 : parameters.length;
    for (int i = 0; i < own; i++) {
      Parameter parameter = parameters[i];
      TaskHeader header = parameter.getAnnotation(TaskHeader.class);
      if (header != null) {
        arguments.add(
            required(
                suspending,
                new MethodParameter(method, i),
                "the job has no header " + header.value(),
                header(name, beanType, parameter, header.value())));
      } else if (parameter.getType() == TaskContext.class) {
        arguments.add((params, context) -> context);
      } else {
        read.add(parameter.getType().getSimpleName() + " " + parameter.getName());
        MethodParameter payload = new MethodParameter(method, i);
        arguments.add(
            required(
                suspending, payload, "the params are null", payload(payload, beanType, payloads)));
      }
    }
    if (read.size() > 1) {
      throw new WorkerSetupException(
          "It is not clear which parameter is the payload in %s (%s): there are %s."
              .formatted(name, beanType.getName(), String.join(", ", read)),
          "Leave one of them; what else comes in is a TaskContext, or a String with @TaskHeader.");
    }
    return arguments;
  }

  /**
   * Rejects a job that has nothing for a parameter of which the source says that it is never null.
   */
  private static Argument required(
      boolean suspending, MethodParameter parameter, String missing, Argument argument) {
    // A suspend function is called without what has a default; that of others stays unknown here.
    if ((suspending && parameter.isOptional()) || !ParameterNullness.isNonNull(parameter)) {
      return argument;
    }
    return (params, context) -> {
      Object value = argument.of(params, context);
      if (value == null) {
        throw new RejectTaskException(
            "%s, and the parameter %s may not be null"
                .formatted(missing, parameter.getParameter().getName()));
      }
      return value;
    };
  }

  private static Argument header(
      String name, Class<?> beanType, Parameter parameter, String header) {
    if (parameter.getType() != String.class || !Limits.HEADER_NAME.matcher(header).matches()) {
      throw new WorkerSetupException(
          "@TaskHeader(\"%s\") does not fit the parameter %s %s of %s (%s)."
              .formatted(
                  header,
                  parameter.getType().getSimpleName(),
                  parameter.getName(),
                  name,
                  beanType.getName()),
          "It belongs on a String, with a name that matches " + Limits.HEADER_NAME + ".");
    }
    return (params, context) -> context.headers().get(header);
  }

  private static Argument payload(MethodParameter parameter, Class<?> beanType, Payloads payloads) {
    if (parameter.getParameterType() == String.class) {
      return (params, context) -> params;
    }
    Type type = GenericTypeResolver.resolveType(parameter.getGenericParameterType(), beanType);
    return (params, context) -> payloads.read(params, type);
  }

  /** A method as messages show it. */
  static String shown(Method method) {
    return "the method " + method.getName();
  }

  String name() {
    return name;
  }

  WorkerSettings settings() {
    return settings;
  }

  Optional<AnnotatedWorkers.Recurring> recurring() {
    return Optional.ofNullable(recurring);
  }

  String beanName() {
    return beanName;
  }

  /**
   * Ties it to its bean.
   *
   * @throws WorkerSetupException if the bean is a proxy that does not have the method
   */
  void bind(Object bean) {
    if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(method.getModifiers())) {
      throw new WorkerSetupException(
          "@DelayedTask is on a final method of a bean that is proxied: %s (%s). The proxy cannot pass the call on."
              .formatted(name, beanType.getName()),
          "Make the method not final.");
    }
    try {
      bound = new Bound(bean, AopUtils.selectInvocableMethod(method, bean.getClass()));
    } catch (IllegalStateException e) {
      throw new WorkerSetupException(
          "@DelayedTask is on a method that the bean's proxy does not have: %s (%s)."
              .formatted(name, beanType.getName()),
          "Declare the method in the interface by which the bean is proxied, or set"
              + " spring.aop.proxy-target-class=true.");
    }
  }

  @Override
  public String type() {
    return type;
  }

  @Override
  public Class<?> clazz() {
    return beanType;
  }

  @Override
  public void invoke(String params) {
    throw new IllegalStateException(name + " wants to know its attempt");
  }

  @Override
  public CompletionStage<?> invokeAsync(String params, TaskContext context) throws Exception {
    Object returned = call(params, context);
    if (method.getReturnType() == void.class) {
      return CompletableFuture.completedFuture(null);
    } else if (returned == null) {
      throw new IllegalStateException(
          "%s (%s) returned null in the place of a CompletionStage: the end of its work cannot be known"
              .formatted(name, beanType.getName()));
    }
    return (CompletionStage<?>) returned;
  }

  private @Nullable Object call(String params, TaskContext context) throws Exception {
    Bound target = bound;
    if (target == null) {
      throw new IllegalStateException("the application has not started: " + name);
    }
    @Nullable Object[] values = new @Nullable Object[arguments.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = arguments.get(i).of(params, context);
    }
    if (suspending) {
      return SuspendFunction.call(target.bean(), target.method(), values);
    }
    try {
      return AopUtils.invokeJoinpointUsingReflection(target.bean(), target.method(), values);
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Kotlin's suspend functions, called as Spring does. Loaded where an application has one. */
  private static final class SuspendFunction {

    /** Whether all that it takes is on the class path. */
    static boolean canBeCalled() {
      return KotlinDetector.isKotlinReflectPresent()
          && ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", null);
    }

    /**
     * Begins a call on this thread.
     *
     * @param values of the parameters that the source has
     * @return ends when the function returns or throws; to cancel it cancels the coroutine
     */
    static CompletionStage<?> call(Object bean, Method method, @Nullable Object[] values) {
      return Mono.from(CoroutinesUtils.invokeSuspendingFunction(method, bean, values)).toFuture();
    }
  }
}
