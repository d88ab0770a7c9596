package io.punctual.systemtest.guide;

import static io.punctual.conflict.OnConflict.WhileRunning.QUEUE_ONE;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.PunctualException;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskSubmitService.Running;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.springframework.transaction.annotation.Transactional;

/** Who submits. */
class Orders {

  record CloseOrder(String id) {}

  record Order(String id, Instant sellBy) {}

  interface OrderRepository {
    void save(Order order);
  }

  private final TaskSubmitService tasks;
  private final OrderRepository orders;

  Orders(TaskSubmitService tasks, OrderRepository orders) {
    this.tasks = tasks;
    this.orders = orders;
  }

  void firstSteps(String id) {
    tasks.job("order.close", new CloseOrder(id)).id(id).in(Duration.ofMinutes(30)).send();

    tasks.cancel("order.close", id); // paid
  }

  void shortForms(Order order) {
    tasks.send("order.close", new CloseOrder(order.id()), Duration.ofMinutes(30));
    tasks.send("order.close", new CloseOrder(order.id()), order.sellBy());
    tasks.send("mail.send", "as it is: no JSON", Duration.ZERO);
  }

  SubmitResult everything(Order order) {
    return tasks
        .job("order.close", new CloseOrder(order.id()))
        .id(order.id())
        .in(Duration.ofMinutes(30))
        .tag("order:" + order.id())
        .header("source", "web")
        .timeToRun(Duration.ofSeconds(10))
        .retry(RetryPolicy.parse("0s,2m,10m"))
        .send();
  }

  void events(Order order) {
    tasks
        .job("order.close", new CloseOrder(order.id()))
        .id(order.id())
        .in(Duration.ofMinutes(30))
        .cancelOn("order.paid", order.id())
        .send();
    tasks.job("order.ship", order).in(Duration.ofDays(1)).runOn("kyc.done", order.id()).send();
    tasks.event("order.paid", order.id());
  }

  void windows(Order order, ZoneId zone) {
    tasks
        .job("sms.send", order)
        .id(order.id())
        .in(Duration.ofHours(1))
        .window("Mon-Sat 09:00-20:00", zone)
        .calendar("de-BY", zone)
        .within(Duration.ofMinutes(5))
        .expiresIn(Duration.ofHours(3))
        .send();
  }

  @Transactional
  public void place(Order order) {
    orders.save(order);
    tasks.job("order.close", new CloseOrder(order.id())).id(order.id()).at(order.sellBy()).send();
  }

  void many(List<Order> placed) {
    List<DelayQueueJob> jobs =
        placed.stream()
            .map(order -> tasks.job("mail.send", order).in(Duration.ZERO).build())
            .toList();
    for (BatchItem item : tasks.sendAll(jobs)) {
      if (!item.accepted()) {
        throw new IllegalStateException("job " + item.taskId() + " is not stored", item.error());
      }
    }
  }

  void again(String id, Order order) {
    tasks.job("order.remind", order).id(id).in(Duration.ofDays(1)).replace().send();
    tasks
        .job("index.update", order)
        .id(id)
        .debounce(Duration.ofSeconds(5), Duration.ofMinutes(1))
        .send();
    tasks.job("stock.sync", "").id("all").in(Duration.ZERO).whileRunning(QUEUE_ONE).send();
  }

  void later(String id) {
    CancelResult cancelled = tasks.cancel("order.close", id);
    tasks.cancel("report.make", id, Running.INTERRUPT);
    tasks.cancelByTag("order:" + id);
    RestoreResult restored = tasks.restore("order.close", id);
    tasks.reschedule("order.close", id, Duration.ofHours(2));
    tasks.runNow("order.close", id);
    Optional<JobInfo> job = tasks.find("order.close", id);
    List<JobInfo> dead = tasks.deadLetters("order.close");
    tasks.requeue("order.close", id);
    System.out.println(
        cancelled.outcome()
            + ", "
            + restored.outcome()
            + ", "
            + job.map(JobInfo::state)
            + ", "
            + dead.size());
  }

  boolean errors(Order order) {
    try {
      tasks.job("order.close", order).id(order.id()).in(Duration.ZERO).send();
      return true;
    } catch (JobConflictException e) {
      throw new IllegalStateException("another job has this id, with other " + e.fields(), e);
    } catch (PunctualException e) {
      if (e.isTransient()) {
        return false; // the same call, with the same id, may be made again
      }
      throw e;
    }
  }
}
