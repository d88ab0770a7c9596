package io.punctual.spring.plugin;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.spring.outbox.OutboxOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with a database that {@link OutboxCrashIT} starts and kills. */
@SpringBootConfiguration
@EnableAutoConfiguration
class OutboxShop {

  /** Property: what it does. */
  static final String MODE = "shop.mode";

  /** It runs jobs. */
  static final String RUN = "run";

  /** It places orders as well, one behind the other. */
  static final String PLACE = "place";

  /** It places one order, commits, and is dead before anything else happens. */
  static final String DIE_AFTER_COMMIT = "die-after-commit";

  public static void main(String[] args) {
    SpringApplication.run(OutboxShop.class, args);
  }

  @Bean
  Orders orders(
      JdbcClient database, TaskSubmitService tasks, PlatformTransactionManager transactions) {
    return new Orders(database, tasks, new TransactionTemplate(transactions));
  }

  /** With a shorter lease than applications have. */
  @Bean
  OutboxOptions options(@Value("${shop.mode}") String mode) {
    // The one that dies shall not be woken by time in the very moment.
    Duration poll = Duration.ofSeconds(mode.equals(DIE_AFTER_COMMIT) ? 60 : 1);
    return new OutboxOptions(poll, Duration.ofSeconds(10), Duration.ofDays(30), null);
  }

  @Bean
  Placing placing(Orders orders, @Value("${shop.mode}") String mode) {
    return new Placing(orders, mode);
  }

  /** As a user writes it. */
  static final class Orders {

    private final JdbcClient database;
    private final TaskSubmitService tasks;
    private final TransactionTemplate transaction;

    Orders(JdbcClient database, TaskSubmitService tasks, TransactionTemplate transaction) {
      this.database = database;
      this.tasks = tasks;
      this.transaction = transaction;
    }

    void place(String id, Runnable behindTheCommit) {
      transaction.executeWithoutResult(
          status -> {
            database.sql("insert into orders values (?)").param(id).update();
            tasks.job("order.close", "").id(id).in(Duration.ZERO).send();
            TransactionSynchronizationManager.registerSynchronization(
                new TransactionSynchronization() {
                  @Override
                  public void afterCommit() {
                    behindTheCommit.run();
                  }
                });
          });
    }

    // No key keeps a second row away: nothing but once does.
    @DelayedTask(type = "order.close", once = "database", retry = "100ms;attempts=50")
    void close(TaskContext context) {
      database.sql("insert into closed values (?)").param(context.taskId()).update();
    }
  }

  /** Places orders in a thread of its own. */
  static final class Placing implements SmartLifecycle {

    private final Orders orders;
    private final String mode;
    private final AtomicBoolean running = new AtomicBoolean();

    Placing(Orders orders, String mode) {
      this.orders = orders;
      this.mode = mode;
    }

    @Override
    public void start() {
      running.set(true);
      if (!mode.equals(RUN)) {
        Thread thread = new Thread(this::place, "placing");
        thread.setDaemon(true);
        thread.start();
      }
    }

    private void place() {
      if (mode.equals(DIE_AFTER_COMMIT)) {
        orders.place("the-order", Placing::die);
      }
      while (running.get()) {
        orders.place(UUID.randomUUID().toString().substring(0, 18), () -> {});
      }
    }

    private static void die() {
      try {
        new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start();
        new CountDownLatch(1).await();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void stop() {
      running.set(false);
    }

    @Override
    public boolean isRunning() {
      return running.get();
    }
  }
}
