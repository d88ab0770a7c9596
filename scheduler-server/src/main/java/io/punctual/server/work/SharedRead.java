package io.punctual.server.work;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that costs something to read and that all who ask share: as long as it is fresh it is not
 * read again, and those who ask while it is being read wait for the same answer. A value that takes
 * long to read stays fresh for longer, so that reading takes a twentieth of the time at most. The
 * shorter one of the last two reads counts: a first read or a pause of Redis says little about the
 * next one.
 */
public final class SharedRead<V> {

  private static final int REST = 20;

  private final Supplier<V> reader;
  private final long freshNs;
  private final LongSupplier nanos;
  private @Nullable Taken<V> last;
  private @Nullable CompletableFuture<V> reading;

  private record Taken<V>(V value, long at, long took, long freshNs) {}

  /**
   * @param reader may throw; then all who wait get what it threw, and the next one tries again
   * @param fresh for how long a value is not read again, at least
   */
  public SharedRead(Supplier<V> reader, Duration fresh) {
    this(reader, fresh, System::nanoTime);
  }

  SharedRead(Supplier<V> reader, Duration fresh, LongSupplier nanos) {
    this.reader = reader;
    this.freshNs = fresh.toNanos();
    this.nanos = nanos;
  }

  /** Returns the value, which may be a little old. */
  public V get() {
    CompletableFuture<V> mine = null;
    CompletableFuture<V> shared;
    synchronized (this) {
      Taken<V> known = last;
      if (known != null && nanos.getAsLong() - known.at() < known.freshNs()) {
        return known.value();
      }
      if (reading == null) {
        mine = new CompletableFuture<>();
        reading = mine;
      }
      shared = reading;
    }
    if (mine != null) {
      read(mine);
    }
    try {
      return shared.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException thrown ? thrown : e;
    }
  }

  private void read(CompletableFuture<V> mine) {
    try {
      long start = nanos.getAsLong();
      V value = reader.get();
      end(new Taken<>(value, start, nanos.getAsLong() - start, freshNs));
      mine.complete(value);
    } catch (Throwable e) {
      end(null);
      mine.completeExceptionally(e);
    }
  }

  private synchronized void end(@Nullable Taken<V> taken) {
    reading = null;
    if (taken != null) {
      long cost = last == null ? 0 : Math.min(last.took(), taken.took());
      long fresh = taken.took() + Math.max(freshNs, REST * cost);
      last = new Taken<>(taken.value(), taken.at(), taken.took(), fresh);
    }
  }
}
