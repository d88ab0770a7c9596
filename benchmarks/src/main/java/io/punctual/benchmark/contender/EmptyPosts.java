package io.punctual.benchmark.contender;

import io.punctual.benchmark.Figure;
import io.punctual.benchmark.Figures;
import io.punctual.benchmark.contest.Contender;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The limit of HTTP: the client that the starter and the dispatcher use, and a server that answers
 * at once.
 */
final class EmptyPosts implements Contender {

  private static final int AT_ONCE = 100;

  private final URI address;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AtomicLong taken = new AtomicLong();

  EmptyPosts(Surroundings surroundings) {
    this.address = URI.create(surroundings.schedulers() + "/empty");
  }

  @Override
  public String description() {
    return "POSTs that a controller of the same stack answers at once";
  }

  @Override
  public void open(Consumer<String> handler) {}

  @Override
  public void submit(Job job) throws Exception {
    int status = client.send(post(body(job)), HttpResponse.BodyHandlers.discarding()).statusCode();
    if (status != 204) {
      throw new IllegalStateException("HTTP " + status);
    }
    taken.incrementAndGet();
  }

  // The fields that the starter sends.
  private static String body(Job job) {
    return """
        {"application":"bench","taskType":"job","taskId":"%s","delayTime":%d,"params":"%s"}"""
        .formatted(job.id(), job.due(), job.payload());
  }

  private HttpRequest post(String body) {
    return HttpRequest.newBuilder(address)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  /** What C1 is measured against: as many POSTs at once as a worker takes jobs. */
  void flood(int repetitions, int count, Figures figures) throws InterruptedException {
    double[] rates = new double[repetitions];
    double unused = flood(3 * count);
    for (int i = 0; i < repetitions; i++) {
      rates[i] = flood(count);
    }
    figures.add(new Figure("C1", "http", "POSTs/s", rates, ""));
  }

  private double flood(int count) throws InterruptedException {
    Semaphore room = new Semaphore(AT_ONCE);
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      room.acquire();
      var unused =
          client
              .sendAsync(post("x".repeat(100)), HttpResponse.BodyHandlers.discarding())
              .whenComplete((answer, error) -> room.release());
    }
    room.acquire(AT_ONCE);
    return count / ((System.nanoTime() - start) / 1e9);
  }

  @Override
  public long pending() {
    return taken.get();
  }

  @Override
  public void close() {}
}
