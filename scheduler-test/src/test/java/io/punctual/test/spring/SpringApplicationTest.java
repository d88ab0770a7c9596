package io.punctual.test.spring;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.netflix.discovery.EurekaClient;
import io.punctual.DelayQueueJob;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.Engine;
import io.punctual.test.TestScheduler;
import io.punctual.test.junit.PunctualTest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestConstructor;

/** A whole application with both starters on its class path, and no line about tests. */
@SpringBootTest(
    classes = SpringApplicationTest.Shop.class,
    properties = {
      "spring.application.name=shop",
      "punctual.enabled=true",
      "punctual.test.start-at=2026-03-01T12:00:00Z",
      // Nobody listens there.
      "spring.data.redis.port=1",
      "eureka.client.service-url.defaultZone=http://localhost:1/eureka/"
    })
@PunctualTest
@TestConstructor(autowireMode = TestConstructor.AutowireMode.ALL)
class SpringApplicationTest {

  @Configuration
  @EnableAutoConfiguration
  static class Shop {

    final List<Instant> closed = new ArrayList<>();

    @Bean
    Clock clock() {
      return Clock.systemUTC();
    }

    @Bean
    TaskWorker closing(Clock clock) {
      return new TaskWorker() {
        @Override
        public String type() {
          return "order.close";
        }

        @Override
        public void invoke(String params) {
          closed.add(clock.instant());
        }
      };
    }
  }

  private final Shop shop;
  private final TaskSubmitService tasks;
  private final TestScheduler injected;
  private final ApplicationContext context;

  SpringApplicationTest(
      Shop shop, TaskSubmitService tasks, TestScheduler injected, ApplicationContext context) {
    this.shop = shop;
    this.tasks = tasks;
    this.injected = injected;
    this.context = context;
  }

  @BeforeEach
  void emptyShop(TestScheduler scheduler) {
    assertThat(scheduler).isSameAs(injected);
    assertThat(scheduler).hasNone();
    shop.closed.clear();
  }

  private void placeOrder() {
    tasks.send(DelayQueueJob.of("order.close").taskId("1").delay(Duration.ofMinutes(30)).build());
  }

  @RepeatedTest(2)
  void eachTestBeginsWithAnEmptyScheduler(TestScheduler scheduler) {
    placeOrder();
    assertThat(scheduler).of("order.close").hasOne().dueIn(Duration.ofMinutes(30));

    scheduler.advance(Duration.ofMinutes(30));

    assertThat(shop.closed).containsExactly(Instant.parse("2026-03-01T12:30:00Z"));
    assertThat(scheduler).of("order.close").job("1").isDone();
  }

  @Test
  void nothingLooksForASchedulerARegistryOrARedis() {
    assertThat(context.getBeansOfType(EurekaClient.class)).isEmpty();
    assertThat(context.getBeansOfType(Engine.class)).isEmpty();
    assertThat(context.containsBean("punctualJobRunner")).isFalse();
    assertThat(context.containsBean("punctualRedis")).isFalse();
    assertThat(context.getBean(TaskSubmitService.class)).isSameAs(injected.taskSubmitService());
  }

  @Nested
  class Inside {

    @Test
    void aNestedTestHasTheSame(TestScheduler scheduler) {
      assertThat(scheduler).isSameAs(injected);
      placeOrder();
      assertThat(scheduler).of("order.close").hasOne();
    }
  }
}
