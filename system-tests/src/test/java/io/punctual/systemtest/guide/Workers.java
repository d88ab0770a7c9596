package io.punctual.systemtest.guide;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskWorker;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
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
