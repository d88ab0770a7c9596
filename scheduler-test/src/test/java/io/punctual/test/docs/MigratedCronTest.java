package io.punctual.test.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import io.punctual.test.Attempt;
import io.punctual.test.TestScheduler;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Stands in docs/migration.md. */
@SpringBootTest(
    classes = MigratedCronTest.Application.class,
    properties = "punctual.test.start-at=2100-01-01T00:00:00Z")
class MigratedCronTest {

  @Configuration
  @EnableAutoConfiguration
  @Import({Reports.class, Setup.class, Orders.class})
  static class Application {}

  static class Reports {

    private final List<String> made = new ArrayList<>();

    @DelayedTask("report.daily")
    void daily() {
      made.add("daily");
    }

    @DelayedTask("report.monthly")
    void monthly(String tenant) {
      made.add("monthly of " + tenant);
    }

    @DelayedTask(type = "clean", cron = "0 30 2 * * MON-FRI", zone = "Europe/Berlin")
    void clean() {
      made.add("clean");
    }

    @DelayedTask("sync")
    void sync() {
      made.add("sync");
    }
  }

  static class Setup {

    private final TaskSubmitService tasks;

    Setup(TaskSubmitService tasks) {
      this.tasks = tasks;
    }

    void daily() {
      tasks
          .schedule("report.daily")
          .cron("0 30 2 ? * MON-FRI", ZoneId.of("Europe/Berlin"))
          .missed(Missed.NONE)
          .whileRunning(WhileRunning.SKIP)
          .put();
    }

    void monthly() {
      tasks
          .schedule("report.monthly", "7")
          .id("tenant:7")
          .cron("0 0 9 L * ?", ZoneId.of("Europe/Berlin"))
          .missed(Missed.LATEST)
          .whileRunning(WhileRunning.QUEUE)
          .put();
    }

    void sync() {
      tasks.schedule("sync").every(Duration.ofMinutes(1)).put();
    }
  }

  static class Orders {

    private final List<String> closed = new ArrayList<>();
    private final TaskSubmitService tasks;

    Orders(TaskSubmitService tasks) {
      this.tasks = tasks;
    }

    void place(String orderId) {
      tasks.job("order.close", orderId).id(orderId).in(Duration.ofMinutes(30)).send();
    }

    @DelayedTask("order.close")
    void close(String orderId) {
      closed.add(orderId);
    }
  }

  @Autowired TestScheduler scheduler;
  @Autowired TaskSubmitService tasks;
  @Autowired Reports reports;
  @Autowired Setup setup;
  @Autowired Orders orders;

  private List<String> runs(Duration time) {
    return scheduler.advance(time).stream().map(Attempt::taskId).toList();
  }

  @Test
  void aCronJobOfXxlJobRunsOnWorkdays() {
    setup.daily();
    // The first of January 2100 is a Friday, and half past two in Berlin is half past one.
    assertThat(runs(Duration.ofDays(4)))
        .containsExactly("report.daily@2100-01-01T01:30:00Z", "report.daily@2100-01-04T01:30:00Z");
  }

  @Test
  void aCronTriggerOfQuartzRunsOnTheLastDayOfTheMonthWithItsData() {
    setup.monthly();
    reports.made.clear();
    assertThat(runs(Duration.ofDays(60)))
        .containsExactly("tenant:7@2100-01-31T08:00:00Z", "tenant:7@2100-02-28T08:00:00Z");
    assertThat(reports.made).containsOnly("monthly of 7");
  }

  @Test
  void aScheduledMethodRunsAtTheTimesOfItsExpression() throws NoSuchMethodException {
    DelayedTask task = Reports.class.getDeclaredMethod("clean").getAnnotation(DelayedTask.class);
    tasks.schedule(task.type()).cron(task.cron(), ZoneId.of(task.zone())).put();
    assertThat(runs(Duration.ofDays(4)))
        .containsExactly("clean@2100-01-01T01:30:00Z", "clean@2100-01-04T01:30:00Z");
  }

  @Test
  void aFixedRateIsAnExactDistance() {
    setup.sync();
    assertThat(runs(Duration.ofMinutes(10))).hasSize(10);
  }

  @Test
  void anOrderOfTheSortedSetIsClosedWhenItIsDue() {
    orders.place("1001");
    scheduler.advance(Duration.ofMinutes(30));
    assertThat(orders.closed).containsExactly("1001");
  }
}
