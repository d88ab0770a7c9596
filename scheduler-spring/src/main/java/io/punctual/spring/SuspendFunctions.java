package io.punctual.spring;

import java.lang.reflect.Method;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.CoroutinesUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/** Calls suspend functions of Kotlin, as Spring does. Of no use without Kotlin's coroutines. */
final class SuspendFunctions {

  private SuspendFunctions() {}

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
