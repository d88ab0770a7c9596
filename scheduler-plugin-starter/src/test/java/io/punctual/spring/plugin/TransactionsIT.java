package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import io.punctual.JobInfo;
import io.punctual.SubmitResult;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** An order and its job live or die together; with a real database and a real Redis. */
class TransactionsIT {

  private static final SharedRedis redis = RedisExtension.redis();

  private ConfigurableApplicationContext context;
  private TaskSubmitService service;

  @BeforeEach
  void startApplication() {
    context =
        new SpringApplicationBuilder(Shop.class)
            .properties(
                "spring.application.name=shop",
                "spring.data.redis.host=" + redis.host(),
                "spring.data.redis.port=" + redis.port(),
                "spring.datasource.url=jdbc:hsqldb:mem:" + UUID.randomUUID(),
                "punctual.key-prefix=t" + UUID.randomUUID().toString().substring(0, 8),
                "spring.main.banner-mode=off")
            .run();
    service = context.getBean(TaskSubmitService.class);
    context
        .getBean(JdbcClient.class)
        .sql("create table orders (id varchar(20) primary key)")
        .update();
  }

  @AfterEach
  void stopApplication() {
    context.close();
  }

  @Test
  void aJobRunsWhenItsOrderIsThere() {
    Orders orders = context.getBean(Orders.class);

    assertThat(orders.place("1", false)).isEqualTo(SubmitResult.Outcome.ON_COMMIT);

    Awaitility.await().until(() -> orders.closed().contains("1 is there: true"));
  }

  @Test
  void aJobOfAnOrderThatWasRolledBackIsNeverSent() {
    Orders orders = context.getBean(Orders.class);

    assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> orders.place("2", true)))
        .hasMessage("no stock");

    assertThat(service.find("order.close", "2")).isEmpty();
    // What comes after it in the same queue is done, and it is not.
    orders.place("3", false);
    Awaitility.await().until(() -> !orders.closed().isEmpty());
    assertThat(orders.closed()).containsExactly("3 is there: true");
  }

  @Test
  void whatIsRolledBackToASavepointIsNotSent() {
    PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
    TransactionTemplate outer = new TransactionTemplate(manager);
    TransactionTemplate nested = new TransactionTemplate(manager);
    nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

    outer.executeWithoutResult(
        status -> {
          nested.executeWithoutResult(
              inner -> {
                send("first-in-nested");
                inner.setRollbackOnly();
              });
          send("kept");
          nested.executeWithoutResult(
              inner -> {
                send("in-nested");
                inner.setRollbackOnly();
              });
          nested.executeWithoutResult(inner -> send("nested-kept"));
        });

    // The last one: what is sent together is stored together.
    Awaitility.await().until(() -> service.find("later", "nested-kept").isPresent());
    assertThat(service.find("later", "kept").orElseThrow().state())
        .isEqualTo(JobInfo.State.DELAYED);
    assertThat(service.find("later", "in-nested")).isEmpty();
    assertThat(service.find("later", "first-in-nested")).isEmpty();
  }

  private void send(String id) {
    assertThat(service.job("later", "").id(id).in(Duration.ofHours(1)).send().outcome())
        .isEqualTo(SubmitResult.Outcome.ON_COMMIT);
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    @Bean
    Orders orders(JdbcClient database, TaskSubmitService tasks) {
      return new Orders(database, tasks);
    }
  }

  /** As a user writes it. */
  static class Orders {

    private final Queue<String> closed = new ConcurrentLinkedQueue<>();
    private final JdbcClient database;
    private final TaskSubmitService tasks;

    Orders(JdbcClient database, TaskSubmitService tasks) {
      this.database = database;
      this.tasks = tasks;
    }

    // The bean is a proxy, whose fields are none.
    Queue<String> closed() {
      return closed;
    }

    @Transactional
    public SubmitResult.Outcome place(String id, boolean broken) {
      SubmitResult sent = tasks.job("order.close", "").id(id).in(Duration.ZERO).send();
      database.sql("insert into orders values (?)").param(id).update();
      if (broken) {
        throw new IllegalStateException("no stock");
      }
      return sent.outcome();
    }

    @DelayedTask("order.close")
    void close(TaskContext context) {
      int found =
          database
              .sql("select count(*) from orders where id = ?")
              .param(context.taskId())
              .query(Integer.class)
              .single();
      closed.add(context.taskId() + " is there: " + (found == 1));
    }
  }
}
