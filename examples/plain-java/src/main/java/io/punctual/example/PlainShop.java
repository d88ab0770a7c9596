package io.punctual.example;

import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.punctual.spi.JobScheduler;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Takes two orders that close by themselves. One is paid in time, the other is closed. */
public final class PlainShop {

  /**
   * Runs until the unpaid order is closed.
   *
   * @param arguments the address of a scheduler, such as {@code http://localhost:8080}
   */
  public static void main(String[] arguments) throws InterruptedException {
    CountDownLatch closed = new CountDownLatch(1);
    try (PunctualClient client =
        PunctualClient.of("plain-shop")
            .schedulers(List.of(URI.create(arguments[0])))
            .worker(new CloseOrder(closed))
            .build()) {
      client.pull();

      JobScheduler scheduler = client.scheduler();
      DelayQueueJob unpaid = closeOrder("1001");
      DelayQueueJob paid = closeOrder("1002");
      scheduler.submit(unpaid);
      scheduler.submit(paid);
      CancelResult result = scheduler.cancel("order.close", paid.taskId());
      System.out.println("order 1002 is paid, its job: " + result.outcome());

      closed.await();
    }
  }

  private static DelayQueueJob closeOrder(String order) {
    return DelayQueueJob.of("order.close").params(order).delay(Duration.ofSeconds(2)).build();
  }

  record CloseOrder(CountDownLatch closed) implements TaskWorker {

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String order) {
      System.out.println("closing order " + order);
      closed.countDown();
    }
  }

  private PlainShop() {}
}
