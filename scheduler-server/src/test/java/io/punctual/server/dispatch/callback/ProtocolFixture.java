package io.punctual.server.dispatch.callback;

import io.punctual.core.Delivery;
import io.punctual.server.dispatch.FakeDelivery;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** What the protocols need, and attempts that write down how they end. */
final class ProtocolFixture implements AutoCloseable {

  static final InstantSource CLOCK = () -> Instant.parse("2026-11-23T12:00:00Z");
  static final Duration AVOID = Duration.ofSeconds(3);

  final WorkerHttpClient client =
      new WorkerHttpClient(Duration.ofSeconds(1), new CallbackTargets(List.of(), true), null);
  final Deadlines deadlines = new Deadlines();
  final AnswerMemory memory;
  final CallbackKeys keys;

  ProtocolFixture(io.punctual.wire.CallbackSignature.Key... keys) {
    this(AnswerMemory.ofHeap(), keys);
  }

  ProtocolFixture(AnswerMemory memory, io.punctual.wire.CallbackSignature.Key... keys) {
    this.memory = memory;
    this.keys = new CallbackKeys(application -> List.of(keys), Set.of());
  }

  private CallContext context() {
    return new CallContext("scheduler:8080", client, deadlines, keys, CLOCK, AVOID, memory);
  }

  BatchProtocol batch() {
    return new BatchProtocol(context());
  }

  SingleProtocol single() {
    return new SingleProtocol(context());
  }

  Ping ping() {
    return new Ping(context());
  }

  @Override
  public void close() {
    deadlines.close();
    client.close();
  }

  static class Recorded implements Attempt {

    final FakeDelivery delivery;
    final List<String> ends = new CopyOnWriteArrayList<>();
    final List<Duration> extensions = new CopyOnWriteArrayList<>();

    Recorded(FakeDelivery delivery) {
      this.delivery = delivery;
    }

    Recorded(String id) {
      this(new FakeDelivery(id));
    }

    /** How it ended; null if it did not. */
    @Nullable String end() {
      return ends.isEmpty() ? null : ends.get(0);
    }

    /** What it says is wrong. */
    String error() {
      String end = String.valueOf(end());
      return end.substring(end.indexOf(": ") + 2);
    }

    private void end(String how) {
      if (ends.isEmpty()) {
        ends.add(how);
      }
    }

    @Override
    public Delivery delivery() {
      return delivery;
    }

    @Override
    public boolean isEnded() {
      return !ends.isEmpty();
    }

    @Override
    public void extend(Duration timeToRun) {
      extensions.add(timeToRun);
    }

    @Override
    public @Nullable Duration extension() {
      return null;
    }

    @Override
    public void done() {
      end("done");
    }

    @Override
    public void failed(String error, @Nullable Duration delay) {
      end("failed" + (delay == null ? "" : " for " + delay) + ": " + error);
    }

    @Override
    public void deferred(Duration within) {
      end("deferred " + within);
    }

    @Override
    public void rejected(String error) {
      end("rejected: " + error);
    }

    @Override
    public void refused(String error) {
      end("refused: " + error);
    }

    @Override
    public void timeOver(String error) {
      end("time over: " + error);
    }

    @Override
    public void connectionBroke(String error) {
      end("connection broke: " + error);
    }

    @Override
    public void badAnswer(String error) {
      end("bad answer: " + error);
    }
  }
}
