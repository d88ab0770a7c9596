package io.punctual.server.work;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that is expensive to read, shared by all callers. A fresh value is not read again.
 * Callers that come during a read wait for its result. A value that is slow to read stays fresh for
 * at least 20 times the duration of a read, so that reads take about a twentieth of the time. The
 * shorter of the last two reads counts, since one slow read says little about the next one.
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
   * Creates a value that is read on demand.
   *
   * @param reader reads the value; if it throws, all waiting callers get that exception, and the
   *     next call reads again
   * @param fresh how long a value stays fresh at least, from the start of its read
   */
  public SharedRead(Supplier<V> reader, Duration fresh) {
    this(reader, fresh, System::nanoTime);
  }

  SharedRead(Supplier<V> reader, Duration fresh, LongSupplier nanos) {
    this.reader = reader;
    this.freshNs = fresh.toNanos();
    this.nanos = nanos;
  }

  /** Returns the value: a fresh one, or else one read now. Waits for a read that is under way. */
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
