package io.punctual.test.junit;

import io.punctual.test.TestScheduler;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Hands a {@link TestScheduler} to the methods of a {@link PunctualTest}. */
final class PunctualExtension implements ParameterResolver {

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(PunctualExtension.class);
  private static final String SPRING =
      "org.springframework.test.context.junit.jupiter.SpringExtension";

  /** Of a test method and those around it; one with an annotation is somebody else's to resolve. */
  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TestScheduler.class
        && parameter.getParameter().getAnnotations().length == 0
        && context.getTestMethod().isPresent();
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (isSpringTest(context)) {
      return SpringTests.scheduler(context);
    }
    ExtensionContext.Store store = context.getStore(NAMESPACE);
    TestScheduler there = store.get(TestScheduler.class, TestScheduler.class);
    if (there != null) {
      return there;
    }
    TestScheduler made = TestScheduler.create();
    store.put(TestScheduler.class, made);
    return made;
  }

  private static boolean isSpringTest(ExtensionContext context) {
    Optional<Class<?>> test = context.getTestClass();
    for (@Nullable Class<?> type = test.orElse(null);
        type != null;
        type = type.getEnclosingClass()) {
      if (AnnotationSupport.findRepeatableAnnotations(type, ExtendWith.class).stream()
          .flatMap(extensions -> Arrays.stream(extensions.value()))
          .anyMatch(extension -> extension.getName().equals(SPRING))) {
        return true;
      }
    }
    return false;
  }
}
