package io.punctual.core.runtime;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A real store, of which a test may hold one call of a bucket up: before it is made, or behind. */
final class GatedStore {

  private final Store store;
  private volatile Gate gate = new Gate("", -1, false);

  GatedStore(Store real) {
    JobStore jobs =
        (JobStore)
            Proxy.newProxyInstance(
                JobStore.class.getClassLoader(),
                new Class<?>[] {JobStore.class},
                (proxy, method, arguments) -> {
                  Gate now = gate;
                  boolean held = now.holds(method.getName(), arguments);
                  if (held && !now.behind) {
                    now.pass();
                  }
                  try {
                    return method.invoke(real.jobs(), arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  } finally {
                    if (held && now.behind) {
                      now.pass();
                    }
                  }
                });
    store =
        new Store(
            jobs,
            real.queues(),
            real.wakeUps(),
            real.members(),
            real.inspector(),
            real.epoch(),
            real.calls(),
            real.schedules(),
            real.calendars());
  }

  Store store() {
    return store;
  }

  /** Holds the next call of that name on that bucket before it is made. */
  Gate before(String call, int bucket) {
    gate = new Gate(call, bucket, false);
    return gate;
  }

  /** Holds the answer to the next call of that name on that bucket. */
  Gate behind(String call, int bucket) {
    gate = new Gate(call, bucket, true);
    return gate;
  }

  /** One call that is held. */
  static final class Gate {

    private final String call;
    private final int bucket;
    private final boolean behind;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);
    private boolean used;

    Gate(String call, int bucket, boolean behind) {
      this.call = call;
      this.bucket = bucket;
      this.behind = behind;
    }

    private synchronized boolean holds(String name, Object[] arguments) {
      boolean mine =
          !used && name.equals(call) && arguments[0] instanceof Bucket b && b.index() == bucket;
      used |= mine;
      return mine;
    }

    private void pass() throws InterruptedException {
      reached.countDown();
      await(opened);
    }

    /** Waits until the call is there. */
    void awaitReached() throws InterruptedException {
      await(reached);
    }

    /** Lets it go on. */
    void open() {
      opened.countDown();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new AssertionError("a gate was not reached, or not opened, within 30 s");
      }
    }
  }
}
