package io.punctual.server.dispatch.callback;

import io.punctual.wire.CallbackSignature;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The keys that sign callbacks, and the applications whose answers must be signed. */
public final class CallbackKeys {

  private final Function<String, List<CallbackSignature.Key>> keys;
  private final Set<String> unsignedAnswers;
  private final Map<String, List<CallbackSignature.Key>> known = new ConcurrentHashMap<>();

  /**
   * @param keys of an application, newest first; none where nothing is signed
   * @param unsignedAnswers applications whose workers do not sign
   */
  public CallbackKeys(
      Function<String, List<CallbackSignature.Key>> keys, Set<String> unsignedAnswers) {
    this.keys = keys;
    this.unsignedAnswers = Set.copyOf(unsignedAnswers);
  }

  List<CallbackSignature.Key> of(String application) {
    return known.computeIfAbsent(application, keys);
  }

  /** Forgets the keys of other applications; they are derived anew when asked for. */
  public void retain(Set<String> applications) {
    known.keySet().retainAll(applications);
  }

  /** How many applications' keys are held. */
  public int size() {
    return known.size();
  }

  /** Whether answers of the application's instances count only when they are signed. */
  public boolean answersAreSigned(String application) {
    return !of(application).isEmpty() && !unsignedAnswers.contains(application);
  }
}
