package io.punctual.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayedTask;
import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskWorker;
import io.punctual.internal.AttemptLease;
import io.punctual.internal.RunningAttempt;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.TimeLimit;
import io.punctual.internal.WorkerSetupException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;
import tools.jackson.databind.json.JsonMapper;

class AnnotatedWorkersTest {

  private static final List<Object> seen = new ArrayList<>();

  record CloseOrder(long id, List<String> items) {}

  static class Closer {

    @DelayedTask("order.close")
    void close(CloseOrder order, TaskContext context, @TaskHeader("by") @Nullable String by) {
      seen.add(order);
      seen.add(context.taskId());
      seen.add(String.valueOf(by));
    }
  }

  @Test
  void aMethodGetsItsPayloadItsAttemptAndItsHeaders() throws Exception {
    run(Closer.class, "order.close", "{\"id\":7,\"items\":[\"a\"]}", Map.of("by", "me"));
    run(Closer.class, "order.close", "{\"id\":8,\"items\":[]}", Map.of());

    assertThat(seen)
        .containsExactly(
            new CloseOrder(7, List.of("a")),
            "the-id",
            "me",
            new CloseOrder(8, List.of()),
            "the-id",
            "null");
  }

  static class Texts {

    @DelayedTask("text")
    void text(@TaskHeader("by") @Nullable String by, String text) {
      seen.add(text);
    }

    @DelayedTask("nothing")
    public void nothing() {
      seen.add("ran");
    }

    @DelayedTask("maps")
    void maps(List<Map<String, Integer>> maps) {
      seen.add(maps.get(0).get("a"));
    }
  }

  @Test
  void aTextComesAsItWasSentAndGenericsAreHeeded() throws Exception {
    run(Texts.class, "text", "{\"no\": json", Map.of());
    run(Texts.class, "nothing", "whatever", Map.of());
    run(Texts.class, "maps", "[{\"a\":3}]", Map.of());

    assertThat(seen).containsExactly("{\"no\": json", "ran", 3);
  }

  static class NeverNull {

    @DelayedTask("header")
    void header(@TaskHeader("by") String by) {
      seen.add(by);
    }

    @DelayedTask("payload")
    void payload(CloseOrder order) {
      seen.add(order);
    }
  }

  @Test
  void whatIsMissingForAParameterThatIsNeverNullIsRejected() {
    assertThatThrownBy(() -> run(NeverNull.class, "header", "", Map.of()))
        .isInstanceOf(RejectTaskException.class)
        .hasMessage("the job has no header by, and the parameter by may not be null");
    assertThatThrownBy(() -> run(NeverNull.class, "payload", "null", Map.of()))
        .isInstanceOf(RejectTaskException.class)
        .hasMessage("the params are null, and the parameter order may not be null");
    assertThat(seen).isEmpty();
  }

  abstract static class Base<T> {

    @DelayedTask("generic")
    void handle(T payload) {
      seen.add(payload);
    }
  }

  static class OfOrders extends Base<CloseOrder> {}

  @Test
  void aPayloadMayBeTheTypeOfAGenericBaseClass() throws Exception {
    run(OfOrders.class, "generic", "{\"id\":1,\"items\":[]}", Map.of());

    assertThat(seen).containsExactly(new CloseOrder(1, List.of()));
  }

  @Test
  void paramsThatAreNoSuchPayloadRejectTheJobWithTheReason() {
    for (String params : List.of("", "{", "{\"id\":\"x\",\"items\":[]}", "[1]")) {
      assertThatThrownBy(() -> run(Closer.class, "order.close", params, Map.of()))
          .as(params)
          .isInstanceOf(RejectTaskException.class)
          .hasMessageContaining("the params are no JSON of " + CloseOrder.class.getTypeName());
    }
    assertThat(seen).isEmpty();
  }

  @Test
  void theReasonSaysWhatIsWrongAndWhereButNotWhatStandsThere() {
    String params = "{\"id\":\"4111 1111 1111 1111\",\"items\":[]}";
    assertThatThrownBy(() -> run(Closer.class, "order.close", params, Map.of()))
        .hasMessageContainingAll("is no long", "line 1", "[\"id\"]")
        .hasMessageNotContaining("4111");
    assertThatThrownBy(() -> run(Closer.class, "order.close", "secret", Map.of()))
        .hasMessageContainingAll("the syntax is wrong", "line 1")
        .hasMessageNotContaining("secret");
  }

  static class Failing {

    @DelayedTask("fail")
    void fail(String how) throws IOException {
      throw new IOException(how);
    }
  }

  @Test
  void whatTheMethodThrowsComesOutAsItIs() {
    assertThatThrownBy(() -> run(Failing.class, "fail", "disk", Map.of()))
        .isInstanceOf(IOException.class)
        .hasMessage("disk")
        .hasNoCause();
  }

  static class Placeholder {

    @DelayedTask("${shop.type}")
    void run(String text) {
      seen.add(text);
    }
  }

  @Test
  void aTaskTypeMayBeAProperty() throws Exception {
    run(Placeholder.class, "from.property", "x", Map.of());

    assertThat(seen).containsExactly("x");
  }

  static class UnknownPlaceholder {

    @DelayedTask("${shop.nowhere}")
    void run(String text) {}
  }

  static class Private {

    @DelayedTask("private")
    @SuppressWarnings({"UnusedMethod", "UnusedVariable"})
    private void run(String text) {}
  }

  static class Ambiguous {

    @DelayedTask("two")
    void run(CloseOrder order, String text) {}
  }

  static class Answering {

    @DelayedTask("answers")
    String run(String text) {
      return text;
    }
  }

  static class WrongHeader {

    @DelayedTask("header")
    void run(@TaskHeader("by") int by) {}
  }

  static class WrongName {

    @DelayedTask("no name")
    void run(String text) {}
  }

  static class Later {

    static final CompletableFuture<String> FUTURE = new CompletableFuture<>();

    @DelayedTask("later")
    CompletableFuture<String> later(String text) {
      return FUTURE;
    }

    @DelayedTask("never")
    @Nullable CompletionStage<Void> never() {
      return null;
    }
  }

  @Test
  void aMethodMayReturnWhatEndsLater() throws Exception {
    try (var context = start(registered -> {}, Later.class)) {
      assertThat(worker(context, "later").invokeAsync("", attempt(Map.of())))
          .isSameAs(Later.FUTURE);
      assertThatThrownBy(() -> worker(context, "never").invokeAsync("", attempt(Map.of())))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the method never")
          .hasMessageContaining("null in the place of a CompletionStage");
    }
  }

  static class Twice {

    @DelayedTask("order.close")
    void run(String text) {}
  }

  @Test
  void whatCannotWorkStopsTheStartAndSaysWhatToDo() {
    assertStops("cannot be read", "Set the property", UnknownPlaceholder.class);
    assertStops("private method", "package-private", Private.class);
    assertStops("CloseOrder order, String text", "@TaskHeader", Ambiguous.class);
    assertStops("returns a String", "return nothing, or a CompletionStage", Answering.class);
    assertStops("@TaskHeader(\"by\") does not fit", "String", WrongHeader.class);
    assertStops("'no name' of the method run", "@DelayedTask names, must be", WrongName.class);
    assertStops("taken by two workers", "another type()", Closer.class, Twice.class);
  }

  private static void assertStops(String description, String action, Class<?>... types) {
    assertThatThrownBy(() -> start(context -> {}, types))
        .rootCause()
        .isInstanceOfSatisfying(
            WorkerSetupException.class,
            e -> {
              assertThat(e.description()).contains(description).contains("'bean0'");
              assertThat(e.action()).contains(action);
            });
  }

  interface Greeter {
    void greet(String name);
  }

  static class ProxiedGreeter implements Greeter {

    @Override
    @DelayedTask("greet")
    public void greet(String name) {
      seen.add("hello " + name);
    }
  }

  static class HiddenGreeter implements Greeter {

    @Override
    public void greet(String name) {}

    @DelayedTask("hidden")
    void other(String name) {}
  }

  static class FinalGreeter {

    @DelayedTask("final")
    final void greet(String name) {}
  }

  @Test
  void aCallGoesThroughTheProxyOfTheBean() throws Exception {
    for (boolean byClass : List.of(true, false)) {
      seen.clear();
      try (var context = start(proxying(byClass), ProxiedGreeter.class)) {
        var unused = worker(context, "greet").invokeAsync("you", attempt(Map.of()));
      }
      assertThat(seen).containsExactly("intercepted", "hello you");
    }
  }

  @Test
  void aMethodThatTheProxyDoesNotHaveStopsTheStart() {
    assertThatThrownBy(() -> start(proxying(false), HiddenGreeter.class))
        .isInstanceOf(WorkerSetupException.class)
        .hasMessageContaining("the bean's proxy does not have")
        .hasMessageContaining("spring.aop.proxy-target-class=true");
    assertThatThrownBy(() -> start(proxying(true), FinalGreeter.class))
        .isInstanceOf(WorkerSetupException.class)
        .hasMessageContaining("final method");
  }

  @Test
  void aMethodThatIsSeenOnlyWhenTheBeanIsThereStopsTheStart() {
    assertThatThrownBy(
            () ->
                start(
                    context ->
                        context.registerBean(
                            "greeter",
                            Greeter.class,
                            () -> {
                              // Workers are looked for when this bean is not there yet.
                              var unused = context.getBean(TaskWorkers.class);
                              return new ProxiedGreeter();
                            })))
        .isInstanceOfSatisfying(
            WorkerSetupException.class,
            e -> {
              assertThat(e.description())
                  .contains("the method greet of bean 'greeter'")
                  .contains("taken for a " + Greeter.class.getName());
              assertThat(e.action()).contains("to return ProxiedGreeter");
            });
  }

  private static java.util.function.Consumer<GenericApplicationContext> proxying(boolean byClass) {
    return context -> {
      context.registerBean(
          "intercept",
          MethodInterceptor.class,
          () ->
              invocation -> {
                if (invocation.getMethod().getName().equals("greet")) {
                  seen.add("intercepted");
                }
                return invocation.proceed();
              });
      context.registerBean(
          BeanNameAutoProxyCreator.class,
          () -> {
            BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
            creator.setBeanNames("bean*");
            creator.setInterceptorNames("intercept");
            creator.setProxyTargetClass(byClass);
            return creator;
          });
    };
  }

  private static void run(Class<?> bean, String type, String params, Map<String, String> headers)
      throws Exception {
    try (var context = start(registered -> {}, bean)) {
      var unused = worker(context, type).invokeAsync(params, attempt(headers));
    }
  }

  private static TaskWorker worker(AnnotationConfigApplicationContext context, String type) {
    return Objects.requireNonNull(context.getBean(TaskWorkers.class).find(type));
  }

  private static TaskContext attempt(Map<String, String> headers) {
    return new RunningAttempt(
        "t",
        "the-id",
        "the-incarnation",
        1,
        0,
        0,
        headers,
        InstantSource.system(),
        new TimeLimit(Duration.ofSeconds(1), () -> {}),
        new NoLease());
  }

  /** Nobody asks it. */
  private static final class NoLease implements AttemptLease {

    @Override
    public void extend(Duration timeToRun) {
      throw new IllegalStateException("asked for more time");
    }

    @Override
    public String defer(Duration within) {
      throw new IllegalStateException("asked to be put off");
    }
  }

  private static AnnotationConfigApplicationContext start(
      java.util.function.Consumer<GenericApplicationContext> more, Class<?>... types) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("test", Map.of("shop.type", "from.property")));
    for (int i = 0; i < types.length; i++) {
      context.registerBean("bean" + i, types[i]);
    }
    more.accept(context);
    // As Spring Boot has it: a placeholder without a value is an error.
    context.registerBean(PropertySourcesPlaceholderConfigurer.class);
    context.registerBean(
        AnnotatedWorkers.class,
        () -> new AnnotatedWorkers(context.getBeanFactory(), new Payloads(JsonMapper::new)));
    context.registerBean(
        TaskWorkers.class,
        () -> {
          TaskWorkers workers = new TaskWorkers(Map.of());
          context.getBean(AnnotatedWorkers.class).addTo(workers);
          return workers;
        });
    try {
      context.refresh();
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
    return context;
  }

  @org.junit.jupiter.api.BeforeEach
  void forget() {
    seen.clear();
  }
}
