package io.punctual.systemtest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A queue that jobs leave, with its sender and its worker. A job's payload is {@code NAME DUE},
 * with the due time in epoch ms.
 */
interface OldSide extends AutoCloseable {

  /** Jobs that are there at the beginning and due 5 ms after each other. */
  int SOON = 2_000;

  /** Jobs that are there at the beginning and due in more than an hour; a multiple of 1,000. */
  int LATER = Integer.getInteger("import.jobs", 10_000) - SOON;

  /** How long the sender waits between two jobs, in ms. */
  int PAUSE_MS = 10;

  /** How long single jobs have to wait, in ms. */
  int SHORT_MS = 3_000;

  int LONG_MS = 7_200_000;
  int HOUR_MS = 3_600_000;

  /** Fills the queue. From then on, a worker runs what is due, and a sender sends single jobs. */
  void start() throws Exception;

  /** Ends the sender. */
  void stopSending() throws Exception;

  /** Waits until no job is left, and ends the worker. */
  void awaitEmpty() throws Exception;

  /** Returns the payloads of all jobs that were sent. */
  Collection<String> sent() throws IOException;

  /** Returns what the worker ran: payloads, and behind each when it ran, in epoch ms. */
  Collection<String> ran() throws IOException;

  @Override
  void close();

  /** A queue of Redisson's client, with a sender and a worker in this JVM. */
  abstract class OfRedisson implements OldSide {

    private static final int AT_ONCE = 1_000;

    final RedissonClient redisson;
    private final Collection<String> sent = new ConcurrentLinkedQueue<>();
    private final Collection<String> ran = new ConcurrentLinkedQueue<>();
    private final Thread sender = new Thread(this::send, "old-sender");
    private final Thread worker = new Thread(this::work, "old-worker");
    private volatile boolean sends = true;
    private volatile boolean works = true;

    OfRedisson(int port) {
      Config config = new Config();
      config.setCodec(new StringCodec());
      config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
      redisson = Redisson.create(config);
    }

    /** Sends jobs. */
    abstract CompletionStage<?> send(Map<String, Long> jobs);

    /** Takes jobs that are due. */
    abstract Collection<String> take() throws InterruptedException;

    abstract boolean isEmpty();

    @Override
    public void start() {
      long now = System.currentTimeMillis();
      for (int i = 0; i < LATER; i += AT_ONCE) {
        sendAll("later-", i, AT_ONCE, now + HOUR_MS, 1);
      }
      sendAll("soon-", 0, SOON, System.currentTimeMillis(), 5);
      worker.start();
      sender.start();
    }

    private void sendAll(String name, int first, int count, long due, int stepMs) {
      Map<String, Long> jobs = new LinkedHashMap<>();
      for (int i = first; i < first + count; i++) {
        long at = due + (long) stepMs * i;
        jobs.put(name + i + " " + at, at);
      }
      send(jobs).toCompletableFuture().join();
      sent.addAll(jobs.keySet());
    }

    private void send() {
      for (int i = 0; sends; i++) {
        sendAll("live-", i, 1, System.currentTimeMillis() + (i % 2 == 0 ? SHORT_MS : LONG_MS), 0);
        sleep();
      }
    }

    private void work() {
      try {
        while (works) {
          for (String job : take()) {
            ran.add(job + " " + System.currentTimeMillis());
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    static void sleep() {
      try {
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void stopSending() throws InterruptedException {
      sends = false;
      sender.join();
    }

    @Override
    public void awaitEmpty() throws InterruptedException {
      Waiting.until("the old queue is empty", this::isEmpty);
      works = false;
      worker.join();
    }

    @Override
    public Collection<String> sent() {
      return sent;
    }

    @Override
    public Collection<String> ran() {
      return ran;
    }

    @Override
    public void close() {
      sends = false;
      works = false;
      redisson.shutdown();
    }
  }

  /** An {@code RDelayedQueue}. */
  @SuppressWarnings("deprecation") // That is why one leaves it.
  final class DelayedQueue extends OfRedisson {

    private final RBlockingQueue<String> ready;
    private final RDelayedQueue<String> delayed;

    DelayedQueue(int port, String name) {
      super(port);
      ready = redisson.getBlockingQueue(name);
      delayed = redisson.getDelayedQueue(ready);
    }

    @Override
    CompletionStage<?> send(Map<String, Long> jobs) {
      long now = System.currentTimeMillis();
      List<CompletionStage<?>> offers = new ArrayList<>();
      jobs.forEach(
          (job, due) ->
              offers.add(delayed.offerAsync(job, Math.max(0, due - now), TimeUnit.MILLISECONDS)));
      return CompletableFuture.allOf(
          offers.stream()
              .map(CompletionStage::toCompletableFuture)
              .toArray(CompletableFuture[]::new));
    }

    @Override
    Collection<String> take() throws InterruptedException {
      String job = ready.poll(100, TimeUnit.MILLISECONDS);
      return job == null ? List.of() : List.of(job);
    }

    @Override
    boolean isEmpty() {
      return delayed.isEmpty() && ready.isEmpty();
    }

    @Override
    public void awaitEmpty() throws InterruptedException {
      super.awaitEmpty();
      delayed.destroy();
    }
  }

  /** A sorted set with the loop that docs/migration.md shows. */
  final class SortedSet extends OfRedisson {

    private final RScoredSortedSet<String> set;

    SortedSet(int port, String name) {
      super(port);
      set = redisson.getScoredSortedSet(name);
    }

    @Override
    CompletionStage<?> send(Map<String, Long> jobs) {
      Map<String, Double> scores = new LinkedHashMap<>();
      jobs.forEach((job, due) -> scores.put(job, due.doubleValue()));
      return set.addAllAsync(scores);
    }

    @Override
    Collection<String> take() {
      sleep();
      List<String> taken = new ArrayList<>();
      double now = (double) System.currentTimeMillis();
      for (String job : set.valueRange(0, true, now, true)) {
        if (set.remove(job)) {
          taken.add(job);
        }
      }
      return taken;
    }

    @Override
    boolean isEmpty() {
      return set.isEmpty();
    }
  }

  /** A queue of BullMQ, with its sender and its worker in a program of Node. */
  final class BullMq implements OldSide {

    private final ExampleProgram program;

    /**
     * @param directory with {@code both.mjs} and its packages
     */
    BullMq(Path directory, int port, String name) throws IOException {
      this.program =
          ExampleProgram.start(
              directory,
              Map.of(),
              "node",
              "both.mjs",
              Integer.toString(port),
              name,
              Integer.toString(LATER),
              Integer.toString(SOON));
    }

    @Override
    public void start() {
      program.await("filled", 1);
    }

    @Override
    public void stopSending() {
      program.askToEnd();
      program.await("stopped", 1);
    }

    @Override
    public void awaitEmpty() {
      program.awaitEnd();
    }

    @Override
    public Collection<String> sent() throws IOException {
      return behind("sent ");
    }

    @Override
    public Collection<String> ran() throws IOException {
      return behind("ran ");
    }

    private Collection<String> behind(String word) throws IOException {
      return program.lines(word).stream().map(line -> line.substring(word.length())).toList();
    }

    @Override
    public void close() {
      program.close();
    }
  }
}
