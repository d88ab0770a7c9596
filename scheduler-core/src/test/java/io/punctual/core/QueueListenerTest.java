package io.punctual.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class QueueListenerTest {

  @Test
  void aListenerThatPassesEventsOnMissesNone() throws ReflectiveOperationException {
    for (Method event : QueueListener.class.getMethods()) {
      if (event.getName().equals("pass")) {
        continue;
      }
      AtomicInteger passed = new AtomicInteger();
      QueueListener listener =
          new QueueListener() {
            @Override
            public void pass(Consumer<QueueListener> next) {
              passed.incrementAndGet();
            }
          };
      Object[] none =
          Arrays.stream(event.getParameterTypes())
              .map(type -> type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null)
              .toArray();
      event.invoke(listener, none);
      assertThat(passed).as(event.getName()).hasValue(1);
    }
  }
}
