package io.punctual.spring.client;

import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.PingAnswer;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * For native images: what goes over the wire as JSON, the version, and what a newer JDK is asked
 * for by name (see {@code Threads}).
 */
final class ClientHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
    new BindingReflectionHintsRegistrar()
        .registerReflectionHints(
            hints.reflection(), CallbackRequest.class, CallbackResult.class, PingAnswer.class);
    hints.resources().registerPattern("io/punctual/wire/version");
    hints
        .reflection()
        .registerType(Thread.class, MemberCategory.INVOKE_PUBLIC_METHODS)
        .registerType(
            TypeReference.of("java.lang.Thread$Builder"), MemberCategory.INVOKE_PUBLIC_METHODS)
        .registerType(Executors.class, MemberCategory.INVOKE_PUBLIC_METHODS);
  }
}
