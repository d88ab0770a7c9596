package io.punctual.spring.client.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

class AskedClientTest {

  private static final List<ServiceInstance> ONE = instances("one");
  private static final List<ServiceInstance> TWO = instances("two");

  private final AtomicLong now = new AtomicLong();
  private final AtomicInteger calls = new AtomicInteger();
  private volatile Supplier<List<ServiceInstance>> answer = () -> ONE;
  private final AskedClient<ServiceInstance> asked =
      new AskedClient<>(client -> client.getInstances("schedulers"), now::get);

  private static List<ServiceInstance> instances(String host) {
    return List.of(new DefaultServiceInstance(host, "schedulers", host, 8080, /* secure= */ false));
  }

  private final DiscoveryClient client =
      new DiscoveryClient() {
        @Override
        public String description() {
          return "one that asks";
        }

        @Override
        public List<ServiceInstance> getInstances(String serviceId) {
          calls.incrementAndGet();
          return answer.get();
        }

        @Override
        public List<String> getServices() {
          return List.of("schedulers");
        }
      };

  private List<URI> ask() {
    return asked.ask(client).stream().map(ServiceInstance::getUri).toList();
  }

  private static List<URI> of(List<ServiceInstance> instances) {
    return instances.stream().map(ServiceInstance::getUri).toList();
  }

  private void secondsLater(int seconds) {
    now.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }

  @Test
  void anAnswerIsUsedForASecond() {
    assertThat(ask()).isEqualTo(of(ONE));
    answer = () -> TWO;
    assertThat(ask()).isEqualTo(of(ONE));
    assertThat(calls).hasValue(1);

    secondsLater(1);
    assertThat(ask()).isEqualTo(of(TWO));
  }

  @Test
  void inAnOutageNotEachCallAsks() {
    assertThat(ask()).isEqualTo(of(ONE));
    answer =
        () -> {
          throw new IllegalStateException("away");
        };
    secondsLater(2);
    for (int i = 0; i < 5; i++) {
      assertThat(ask()).isEqualTo(of(ONE));
    }
    assertThat(calls).hasValue(2);

    answer = () -> TWO;
    secondsLater(1);
    assertThat(ask()).isEqualTo(of(TWO));
  }

  @Test
  void aClientThatHangsIsNotAskedTwiceAtOnce() {
    assertThat(ask()).isEqualTo(of(ONE));
    CountDownLatch away = new CountDownLatch(1);
    answer =
        () -> {
          try {
            away.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return TWO;
        };
    for (int i = 0; i < 2; i++) {
      secondsLater(2);
      assertThat(ask()).isEqualTo(of(ONE));
      assertThat(ask()).isEqualTo(of(ONE));
    }
    assertThat(calls).hasValue(2);

    away.countDown();
    secondsLater(2);
    assertThat(ask()).isEqualTo(of(TWO));
  }

  @Test
  void aClientThatNeverAnsweredSaysWhy() {
    answer =
        () -> {
          throw new IllegalStateException("away");
        };
    assertThatThrownBy(this::ask).hasMessage("away");
  }
}
