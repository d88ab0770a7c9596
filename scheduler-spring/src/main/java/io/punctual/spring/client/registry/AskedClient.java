package io.punctual.spring.client.registry;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClient;

/**
 * Asks a registry's client one question; the client may ask a server that does not answer. Waits
 * for a second at most; after that, and if the client fails, the last answer counts. An answer is
 * used for a second.
 */
final class AskedClient<T> {

  private static final Logger log = LoggerFactory.getLogger(AskedClient.class);
  private static final long PATIENCE_MS = 1_000;
  private static final long FRESH_NS = 1_000_000_000;

  // These answer from memory.
  private static final Set<String> DIRECT =
      Set.of(
          "org.springframework.cloud.netflix.eureka.EurekaDiscoveryClient",
          "org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient");

  private final Function<DiscoveryClient, List<T>> question;
  private final LongSupplier nanoTime;
  private @Nullable FutureTask<List<T>> asking;
  private volatile @Nullable Answer<T> last;

  private record Answer<T>(List<T> found, long at) {}

  AskedClient(Function<DiscoveryClient, List<T>> question) {
    this(question, System::nanoTime);
  }

  AskedClient(Function<DiscoveryClient, List<T>> question, LongSupplier nanoTime) {
    this.question = question;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns what the client answers to the question.
   *
   * @throws RuntimeException what the client throws, if it has never answered
   */
  List<T> ask(DiscoveryClient client) {
    if (isDirect(client)) {
      return question.apply(client);
    }
    Answer<T> before = last;
    if (before != null && nanoTime.getAsLong() - before.at() < FRESH_NS) {
      return before.found();
    }
    FutureTask<List<T>> answer = asking(client);
    Throwable why;
    try {
      return answer.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      why = new IllegalStateException("it does not answer within " + PATIENCE_MS + " ms");
    } catch (ExecutionException e) {
      why = e.getCause();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = e;
    }
    if (before != null) {
      log.debug("The registry's client does not answer; its last answer counts", why);
      use(before);
      return before.found();
    } else if (why instanceof RuntimeException thrown) {
      throw thrown;
    }
    throw new IllegalStateException("the registry's client does not answer", why);
  }

  /** Uses an answer for a second again, unless there is a newer one: not each call waits. */
  private synchronized void use(Answer<T> before) {
    if (before.equals(last)) {
      answered(before.found());
    }
  }

  private synchronized void answered(List<T> found) {
    last = new Answer<>(found, nanoTime.getAsLong());
  }

  private static boolean isDirect(DiscoveryClient client) {
    return client instanceof CompositeDiscoveryClient all
        ? all.getDiscoveryClients().stream().allMatch(AskedClient::isDirect)
        : DIRECT.contains(client.getClass().getName());
  }

  /** One call at a time, on its own thread: callers that come meanwhile wait for the same one. */
  private synchronized FutureTask<List<T>> asking(DiscoveryClient client) {
    FutureTask<List<T>> running = asking;
    if (running != null && !running.isDone()) {
      return running;
    }
    FutureTask<List<T>> next =
        new FutureTask<>(
            () -> {
              List<T> found = question.apply(client);
              answered(found);
              return found;
            });
    asking = next;
    Thread thread = new Thread(next, "punctual-registry");
    thread.setDaemon(true);
    thread.start();
    return next;
  }
}
