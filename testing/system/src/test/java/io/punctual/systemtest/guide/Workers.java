package io.punctual.systemtest.guide;

import io.punctual.DeferralResult;
import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Who runs jobs. */
@Component
class Workers {

  record CloseOrder(String id) {}

  record Payment(String id, boolean pending) {}

  private String lastClosed = "";

  @DelayedTask("order.close")
  void close(CloseOrder order, TaskContext context, @TaskHeader("source") @Nullable String source) {
    if (order.id().isBlank()) {
      throw context.reject("an order without an id"); // a dead letter, never tried again
    }
    lastClosed = order.id() + " for " + source;
  }

  @DelayedTask(
      type = "payment.check",
      concurrency = "20",
      timeToRun = "${shop.payment.time:30s}",
      retry = "10s,1m,10m")
  void check(Payment payment, TaskContext context) {
    if (payment.pending()) {
      throw context.retryAfter(Duration.ofMinutes(context.attempt()));
    }
  }

  @DelayedTask(type = "report.daily", cron = "0 9 * * MON-FRI", zone = "Europe/Berlin")
  void report(TaskContext context) {
    lastClosed = context.taskId(); // report.daily@2027-03-29T07:00:00Z
  }

  record Report(String id, int pages) {}

  /** A part of the application that has its own threads. */
  interface Reports {

    CompletableFuture<Void> makeAsync(String id);

    void abandon(String id);

    void makePage(String id, int page);
  }

  private final Reports reports;
  private final Approvals approvals;

  Workers(Reports reports, Approvals approvals) {
    this.reports = reports;
    this.approvals = approvals;
  }

  @DelayedTask(type = "report.make", timeToRun = "10m")
  CompletableFuture<Void> make(Report report, TaskContext context) {
    CompletableFuture<Void> made = reports.makeAsync(report.id());
    context.onCancel(() -> reports.abandon(report.id()));
    return made;
  }

  /** Those who say yes or no, some day. */
  interface Approvals {

    void ask(String orderId, String handle);
  }

  record Order(String id) {}

  @DelayedTask("order.approve")
  void ask(Order order, TaskContext context) {
    approvals.ask(order.id(), context.defer(Duration.ofDays(3)));
  }

  static boolean answer(TaskSubmitService tasks, String handle, boolean approved, String by) {
    DeferralResult result =
        approved ? tasks.finish(handle) : tasks.reject(handle, "declined by " + by);
    boolean known = result.outcome() != DeferralResult.Outcome.UNKNOWN;
    return known;
  }

  @DelayedTask("report.pages")
  void makePages(Report report, TaskContext context) {
    for (int page = 0; page < report.pages(); page++) {
      context.extend(Duration.ofMinutes(5));
      reports.makePage(report.id(), page);
    }
  }

  void run(PreparedStatement statement, TaskContext context) throws SQLException {
    context.onCancel(
        () -> {
          try {
            statement.cancel();
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
    statement.executeUpdate();
  }

  String lastClosed() {
    return lastClosed;
  }

  @Component
  static class SendMail implements TaskWorker {

    @Override
    public String type() {
      return "mail.send";
    }

    @Override
    public void invoke(String params) {
      System.out.println("sending " + params);
    }
  }
}
