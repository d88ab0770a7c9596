package io.punctual.benchmark;

import io.punctual.benchmark.contender.StarterApplication;
import io.punctual.benchmark.contender.Surroundings;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.Submission;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.springframework.context.ConfigurableApplicationContext;

/** G: how soon overdue jobs are delivered once a scheduler starts, with many others pending. */
final class ColdStart {

  private static final String APPLICATION = "cold";
  private static final long DAY_MS = 86_400_000;

  private final Machine machine;
  private final Options options;
  private final Figures figures;
  private final AtomicLong first = new AtomicLong();
  private final AtomicInteger delivered = new AtomicInteger();

  ColdStart(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    int queues = Math.max(10, options.scaled(1_000));
    int jobs = Math.max(queues, options.scaled(1_000_000));
    System.out.printf("punctual: start with %,d jobs in %,d queues%n", jobs, queues);
    List<String> types = IntStream.range(0, queues).mapToObj(i -> "type" + i).toList();
    try (RedisServer redis = machine.redis();
        StoreConnections connections = new StoreConnections(redis.port());
        JavaProcess registry = machine.registry();
        ConfigurableApplicationContext worker =
            StarterApplication.start(
                new Surroundings(redis.port(), registry.url(), registry.url(), 0, 0),
                APPLICATION,
                types,
                params -> {
                  first.compareAndSet(0, System.currentTimeMillis());
                  delivered.incrementAndGet();
                })) {
      Store store = connections.store();
      for (String type : types) {
        int buckets = store.queues().register(new QueueName(APPLICATION, type), 1);
        submit(store, type, "far", jobs / queues / buckets, System.currentTimeMillis() + DAY_MS);
      }
      double[] firsts = new double[options.scale().repetitions()];
      double[] lasts = new double[firsts.length];
      for (int i = 0; i < firsts.length; i++) {
        long past = System.currentTimeMillis() - 60_000;
        for (String type : types) {
          submit(store, type, "overdue" + i + "-", 1, past);
        }
        first.set(0);
        delivered.set(0);
        try (JavaProcess scheduler =
            machine.programs().scheduler(registry, redis.port(), StoreConnections.PREFIX).start()) {
          scheduler.awaitReady();
          long ready = System.currentTimeMillis();
          Waiting.until("every overdue job is delivered", () -> delivered.get() >= queues);
          lasts[i] = (System.currentTimeMillis() - ready) / 1000.0;
          firsts[i] = Math.max(0, first.get() - ready) / 1000.0;
        }
      }
      String note = String.format("%,d jobs in %,d queues", jobs, queues);
      figures.add(new Figure("G", "punctual", "s from ready to the first job", firsts, note));
      figures.add(
          new Figure("G", "punctual", "s from ready until each queue's job ran", lasts, note));
      if (delivered.get() != queues || !worker.isActive()) {
        throw new IllegalStateException(delivered + " deliveries, not " + queues);
      }
    }
  }

  private static void submit(Store store, String type, String prefix, int count, long due) {
    Bucket bucket = new Bucket(new QueueName(APPLICATION, type), 0);
    for (int from = 0; from < count; from += JobStore.MAX_JOBS) {
      List<Submission> some = new ArrayList<>();
      for (int i = from; i < Math.min(count, from + JobStore.MAX_JOBS); i++) {
        byte[] content =
            JobContentCodec.encode(JobContent.of(Due.at(due + i)).params("x".repeat(100)).build());
        some.add(
            new Submission(
                prefix + i, type + prefix + i, Due.at(due + i), 4, 0, List.of(), content, false));
      }
      var unused = store.jobs().submit(bucket, some);
    }
  }
}
