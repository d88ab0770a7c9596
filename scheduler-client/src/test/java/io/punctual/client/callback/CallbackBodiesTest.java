package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CallbackBodiesTest {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final CallbackBodies bodies = new CallbackBodies(100, 150, PATIENCE);
  private final AtomicLong read = new AtomicLong();
  private FakeExchange last = new FakeExchange();

  @Test
  void bodiesAreBoundedAllTogether() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (CallbackBodies.Place first = bodies.open();
          CallbackBodies.Place second = bodies.open();
          CallbackBodies.Place third = bodies.open()) {
        assertThat(first.read(request(90))).hasSize(90);
        read.set(0);
        assertThat(refusal(second, request(90)).status()).isEqualTo(503);
        // All of it, so that the answer is seen.
        assertThat(read).hasValue(90);
        // What was refused holds nothing.
        assertThat(third.read(request(60))).hasSize(60);
      }
      assertThat(last.rest()).isTrue();
    }
  }

  @Test
  void whatIsAnnouncedHoldsNothing() throws Exception {
    FakeExchange announced = announcing(100, request(10));
    try (CallbackBodies.Place first = bodies.open();
        CallbackBodies.Place second = bodies.open()) {
      assertThat(first.read(announced)).hasSize(10);
      assertThat(second.read(request(100))).hasSize(100);
    }
  }

  @Test
  void whatIsTooLargeIsRefusedAsSoonAsThatIsKnown() throws Exception {
    try (CallbackBodies.Place place = bodies.open()) {
      assertThat(refusal(place, announcing(101, request(101))).status()).isEqualTo(413);
      assertThat(read).hasValue(0);
      // Without a length, as chunked bodies are.
      assertThat(refusal(place, request(1_000_000)).status()).isEqualTo(413);
      assertThat(read.get()).isLessThan(10_000);
    }
  }

  @Test
  void whoDripsIsGivenUp() throws Exception {
    CallbackBodies impatient = new CallbackBodies(100, 100, Duration.ofMillis(1));
    try (CallbackBodies.Place place = impatient.open()) {
      CallbackBodies.NotReadException refusal = refusal(place, dripping(50));
      // 503 costs a scheduler's jobs no attempt: nothing was run.
      assertThat(refusal.status()).isEqualTo(503);
      assertThat(refusal.dropped()).isTrue();
      assertThat(last.rest()).isFalse();
    }
    // And what it held is free.
    try (CallbackBodies.Place place = bodies.open()) {
      assertThat(place.read(request(100))).hasSize(100);
    }
    impatient.throwAway(dripping(50));
    assertThat(last.rest()).isFalse();
  }

  @Test
  void whatBreaksOffIsRefused() throws Exception {
    try (CallbackBodies.Place place = bodies.open()) {
      assertThat(refusal(place, broken()).status()).isEqualTo(400);
      assertThat(last.rest()).isFalse();
    }
    bodies.throwAway(broken());
    assertThat(last.rest()).isFalse();
  }

  @Test
  void whatIsThrownAwayHasAnEnd() {
    bodies.throwAway(request(10_000_000));
    // When it was answered, and not before.
    assertThat(read).hasValue(0);
    assertThat(last.rest()).isTrue();
    assertThat(read).hasValue(10_000_000);
    read.set(0);
    bodies.throwAway(request(Long.MAX_VALUE));
    assertThat(last.rest()).isFalse();
    assertThat(read.get()).isLessThan(20_000_000);
  }

  @Test
  void oneOfTheLargestKindIsReadOnTheSmallestHeap() throws Exception {
    int larger = (int) (Runtime.getRuntime().maxMemory() / 16) + 1;
    CallbackBodies most = CallbackBodies.ofHeap(larger);
    try (CallbackBodies.Place place = most.open();
        CallbackBodies.Place second = most.open()) {
      assertThat(place.read(request(larger))).hasSize(larger);
      assertThat(refusal(second, request(1)).status()).isEqualTo(503);
    }
  }

  private static CallbackBodies.NotReadException refusal(
      CallbackBodies.Place place, FakeExchange request) {
    var thrown = new CallbackBodies.NotReadException[1];
    assertThatThrownBy(() -> place.read(request))
        .isInstanceOfSatisfying(
            CallbackBodies.NotReadException.class, refusal -> thrown[0] = refusal);
    return thrown[0];
  }

  private static FakeExchange announcing(int length, FakeExchange request) {
    request.addHeader("Content-Length", Integer.toString(length));
    return request;
  }

  private FakeExchange request(long size) {
    return request(
        new Body() {
          private long left = size;

          @Override
          public int read(byte[] buffer, int offset, int length) {
            int count = (int) Math.min(left, length);
            left -= count;
            read.addAndGet(count);
            return count == 0 ? -1 : count;
          }
        });
  }

  private FakeExchange dripping(int size) {
    return request(
        new Body() {
          private int left = size;

          @Override
          public int read(byte[] buffer, int offset, int length) {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < 1_000_000) {
              Thread.onSpinWait();
            }
            return left-- > 0 ? 1 : -1;
          }
        });
  }

  private FakeExchange broken() {
    return request(
        new Body() {
          @Override
          public int read(byte[] buffer, int offset, int length) throws IOException {
            throw new IOException("broken");
          }
        });
  }

  private FakeExchange request(Body body) {
    last = new FakeExchange();
    last.setBody(body);
    return last;
  }

  private abstract static class Body extends InputStream {

    @Override
    public abstract int read(byte[] buffer, int offset, int length) throws IOException;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }
  }
}
