package io.punctual.server.dispatch;

import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.registry.WorkerInstance;
import java.net.URI;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Knows which instances have shown that they hold their application's key. Where answers are
 * signed, an instance is sent no job before it answered a ping with that signature, however it is
 * registered: others who can write into the registry would read what is in the jobs.
 */
final class KeyProofs {

  /** Why an instance without proof gets no jobs. */
  static final String MISSING = "it has not answered a ping with the key of its application";

  // Another address is another instance.
  private record Key(String application, String instance, URI callback) {

    static Key of(WorkerInstance instance) {
      return new Key(instance.application(), instance.id(), instance.callback());
    }
  }

  private final CallbackKeys keys;
  private final Set<Key> proven = ConcurrentHashMap.newKeySet();

  KeyProofs(CallbackKeys keys) {
    this.keys = keys;
  }

  /** Returns those that may be sent jobs. */
  List<WorkerInstance> proven(List<WorkerInstance> instances) {
    return instances.stream().allMatch(this::isProven)
        ? instances
        : instances.stream().filter(this::isProven).toList();
  }

  /** Returns whether an instance may be sent jobs, as far as its key is concerned. */
  boolean isProven(WorkerInstance instance) {
    return !keys.answersAreSigned(instance.application()) || proven.contains(Key.of(instance));
  }

  /**
   * Takes the result of a ping. A proof stays: results that follow do not revoke it.
   *
   * @return whether this is the first proof of the instance
   */
  boolean pinged(WorkerInstance instance, PingResult result) {
    return result instanceof PingResult.Answered answered
        && answered.signature() == PingResult.Signature.RIGHT
        && proven.add(Key.of(instance));
  }

  /** Forgets all others, but for those that show their key while the instances are read. */
  void retain(Supplier<? extends Collection<WorkerInstance>> instances) {
    Set<Key> gone = new HashSet<>(proven);
    instances.get().forEach(instance -> gone.remove(Key.of(instance)));
    proven.removeAll(gone);
  }

  int size() {
    return proven.size();
  }
}
