package io.punctual.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.PingAnswer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

/** What is said to whoever builds a native image, by the processing that comes before it. */
class NativeHintsTest {

  @Test
  void workersTheirPayloadsAndTheWireAreReached() {
    RuntimeHints hints = hints();

    assertThat(reflection().onMethodInvocation(Shop.class, "close")).accepts(hints);
    assertThat(reflection().onConstructorInvocation(CloseOrder.class.getDeclaredConstructors()[0]))
        .accepts(hints);
    assertThat(reflection().onMethodInvocation(CloseOrder.class, "id")).accepts(hints);
    for (Class<?> wire :
        new Class<?>[] {
          CallbackRequest.class, CallbackRequest.Job.class, CallbackResult.class, PingAnswer.class
        }) {
      assertThat(reflection().onConstructorInvocation(wire.getDeclaredConstructors()[0]))
          .as(wire.getName())
          .accepts(hints);
    }
  }

  private static RuntimeHints hints() {
    try (AnnotationConfigApplicationContext application =
        new AnnotationConfigApplicationContext()) {
      TestPropertyValues.of("spring.application.name=shop").applyTo(application);
      application.register(PunctualClientAutoConfiguration.class, Shop.class);
      DefaultGenerationContext generated =
          new DefaultGenerationContext(
              new ClassNameGenerator(ClassName.get(Shop.class)), new InMemoryGeneratedFiles());
      var unused = new ApplicationContextAotGenerator().processAheadOfTime(application, generated);
      new ClientHints().registerHints(generated.getRuntimeHints(), null);
      return generated.getRuntimeHints();
    }
  }

  public record CloseOrder(String id) {}

  public static class Shop {
    @DelayedTask("order.close")
    public void close(
        CloseOrder order, TaskContext context, @TaskHeader("source") @Nullable String source) {}
  }
}
