package io.punctual.server.dispatch;

import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Knows which instances have shown that they hold their application's key. Where answers are
 * signed, an instance of the batch protocol is sent no job before it answered a ping with that
 * signature: others who can write into the registry would read what is in the jobs.
 */
final class KeyProofs {

  private static final Logger log = LoggerFactory.getLogger(KeyProofs.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** So many instances of one application are asked at once. */
  private static final int MOST_AT_ONCE = 4;

  private static final String NOT_SHOWN =
      "it has not answered a ping with the key of its application";

  private record Key(String application, String instance) {}

  /**
   * What is known of an instance.
   *
   * @param callback the address that was called; another one is another instance
   * @param missing why it is not proven; null where it is
   * @param asking whether a ping is under way
   * @param askAgain when to ask again, by the clock of the constructor
   */
  private record Proof(
      URI callback, @Nullable String missing, boolean asking, long askAgain, Duration pause) {}

  private final CallbackKeys keys;
  private final Function<WorkerInstance, PingResult> ping;
  private final Executor threads;
  private final Consumer<String> proven;
  private final LongSupplier nanoTime;
  private final Map<Key, Proof> proofs = new ConcurrentHashMap<>();

  /**
   * @param ping calls an instance, and blocks for some seconds at most
   * @param proven told the application of an instance that may be sent jobs from now on
   */
  KeyProofs(
      CallbackKeys keys,
      Function<WorkerInstance, PingResult> ping,
      Executor threads,
      Consumer<String> proven,
      LongSupplier nanoTime) {
    this.keys = keys;
    this.ping = ping;
    this.threads = threads;
    this.proven = proven;
    this.nanoTime = nanoTime;
  }

  /** Those that may be sent jobs. The others are asked for their proof meanwhile. */
  List<WorkerInstance> proven(List<WorkerInstance> instances) {
    List<WorkerInstance> known = known(instances);
    if (known.size() < instances.size()) {
      ask(instances);
    }
    return known;
  }

  /** Those that may be sent jobs. No instance is asked. */
  List<WorkerInstance> known(List<WorkerInstance> instances) {
    return instances.stream().allMatch(this::isProven)
        ? instances
        : instances.stream().filter(this::isProven).toList();
  }

  /** Why the instance is sent no jobs; null if it may be, as far as its key is concerned. */
  @Nullable String missing(WorkerInstance instance) {
    if (!keys.answersAreSigned(instance.application())
        || !instance.metadata().protocol().equals(WorkerMetadata.BATCH)) {
      return null;
    }
    Proof proof = proofs.get(key(instance));
    return proof != null && proof.callback().equals(instance.callback())
        ? proof.missing()
        : NOT_SHOWN;
  }

  private boolean isProven(WorkerInstance instance) {
    return missing(instance) == null;
  }

  /** Asks those of an application that have not shown it, and are not being asked. */
  void ask(List<WorkerInstance> instances) {
    if (instances.isEmpty() || !keys.answersAreSigned(instances.get(0).application())) {
      return;
    }
    long asking =
        instances.stream()
            .map(instance -> proofs.get(key(instance)))
            .filter(proof -> proof != null && proof.asking())
            .count();
    for (WorkerInstance instance : instances) {
      if (asking >= MOST_AT_ONCE) {
        return;
      } else if (!isProven(instance) && begin(instance)) {
        asking++;
        try {
          threads.execute(() -> ask(instance));
        } catch (RuntimeException | Error e) {
          // No memory for a thread, for instance: it is asked again later.
          asked(instance, NOT_SHOWN);
          throw e;
        }
      }
    }
  }

  private boolean begin(WorkerInstance instance) {
    boolean[] begun = {false};
    long now = nanoTime.getAsLong();
    proofs.compute(
        key(instance),
        (key, known) -> {
          boolean same = known != null && known.callback().equals(instance.callback());
          if (known != null && (known.asking() || (same && now - known.askAgain() < 0))) {
            return known;
          }
          begun[0] = true;
          Duration pause = known != null && same ? longer(known.pause()) : FIRST_PAUSE;
          String missing = known != null && same ? known.missing() : NOT_SHOWN;
          return new Proof(instance.callback(), missing, true, now, pause);
        });
    return begun[0];
  }

  private static Duration longer(Duration pause) {
    Duration doubled = pause.multipliedBy(2);
    return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
  }

  private void ask(WorkerInstance instance) {
    String missing = NOT_SHOWN;
    try {
      missing = missing(ping.apply(instance));
    } catch (RuntimeException e) {
      log.debug("Instance {} could not be asked for its proof", instance.id(), e);
    } finally {
      asked(instance, missing);
    }
    if (missing == null) {
      proven.accept(instance.application());
    } else {
      log.atLevel(isFirst(instance) ? Level.WARN : Level.DEBUG)
          .addKeyValue("punctual.application", instance.application())
          .addKeyValue("punctual.instance", instance.id())
          .log(
              "Instance {} gets no jobs before it has shown its application's key: {}. It is asked"
                  + " again.",
              instance.id(),
              missing);
    }
  }

  private void asked(WorkerInstance instance, @Nullable String missing) {
    long now = nanoTime.getAsLong();
    proofs.computeIfPresent(
        key(instance),
        (key, known) ->
            new Proof(
                known.callback(), missing, false, now + known.pause().toNanos(), known.pause()));
  }

  private static @Nullable String missing(PingResult result) {
    return switch (result) {
      case PingResult.NotCalled notCalled -> notCalled.reason();
      case PingResult.NoAnswer none -> none.failure().text();
      case PingResult.Answered answered ->
          answered.signature() == PingResult.Signature.RIGHT ? null : NOT_SHOWN;
    };
  }

  private boolean isFirst(WorkerInstance instance) {
    Proof proof = proofs.get(key(instance));
    // The first may be too early: the registry lists some before they listen.
    return proof != null && proof.pause().equals(longer(FIRST_PAUSE));
  }

  /**
   * Forgets instances that left the registry.
   *
   * @param registered the ids of an application's instances in the registry
   */
  void tidy(Function<String, Set<String>> registered) {
    for (Key key : proofs.keySet()) {
      if (!registered.apply(key.application()).contains(key.instance())) {
        proofs.computeIfPresent(key, (k, proof) -> proof.asking() ? proof : null);
      }
    }
  }

  int size() {
    return proofs.size();
  }

  private static Key key(WorkerInstance instance) {
    return new Key(instance.application(), instance.id());
  }
}
