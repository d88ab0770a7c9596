package io.punctual.server.dispatch;

import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.registry.WorkerDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Whole dispatchers for tests. */
public final class TestDispatchers {

  private TestDispatchers() {}

  /** Returns a dispatcher to the workers of a directory. */
  public static HttpDispatcher of(WorkerDirectory workers, CallbackKeys keys) {
    return new HttpDispatcher(
        "scheduler:8080",
        workers,
        new DispatchTimes(Duration.ofSeconds(5), Duration.ofSeconds(3), Duration.ofSeconds(5)),
        10,
        keys,
        new CallbackTargets(List.of(), true),
        null,
        new FakeInstanceMarks(System::currentTimeMillis),
        AttemptListener.NONE,
        InstantSource.system());
  }
}
