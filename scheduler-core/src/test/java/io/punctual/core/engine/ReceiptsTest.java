package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.JobRecord;
import io.punctual.core.store.Restoration;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReceiptsTest {

  private static final Bucket ONE = new Bucket(new QueueName("shop", "one"), 0);
  private static final Bucket TWO = new Bucket(new QueueName("shop", "two"), 0);

  private long now;
  private final Receipts receipts =
      new Receipts(new ReceiptOptions(Duration.ofSeconds(30), 1 << 20), () -> now);

  private static Restoration waiting(String id, int bytes) {
    return Restoration.waiting(
        Restoration.Kind.WAITING, id, 1, new JobRecord("i", 1, 1, 0, List.of(), new byte[bytes]));
  }

  private static Restoration done(String id) {
    return Restoration.ended(Restoration.Kind.DONE, id, "i", 1);
  }

  private void passSeconds(long seconds) {
    now += Duration.ofSeconds(seconds).toNanos();
  }

  private List<String> ids(Bucket bucket) {
    return receipts.all().getOrDefault(bucket, List.of()).stream()
        .map(Restoration::taskId)
        .toList();
  }

  @Test
  void theLastOfEachJobIsKeptInOrder() {
    receipts.add(ONE, List.of(waiting("a", 1), waiting("b", 1)));
    receipts.add(TWO, List.of(waiting("a", 1)));
    receipts.add(ONE, List.of(done("a")));

    assertThat(ids(ONE)).containsExactly("b", "a");
    assertThat(receipts.all().getOrDefault(ONE, List.of()))
        .last()
        .returns(Restoration.Kind.DONE, Restoration::kind);
    assertThat(ids(TWO)).containsExactly("a");
  }

  @Test
  void theyGoWithTimeButNotWhileNobodyKnowsTheStore() {
    receipts.add(ONE, List.of(waiting("a", 1)));
    passSeconds(20);
    receipts.add(ONE, List.of(waiting("b", 1)));
    passSeconds(1000);
    assertThat(ids(ONE)).containsExactly("a", "b");
    receipts.verified();
    assertThat(ids(ONE)).isEmpty();

    receipts.add(ONE, List.of(waiting("a", 1)));
    passSeconds(20);
    receipts.add(ONE, List.of(waiting("b", 1)));
    passSeconds(11);
    receipts.verified();
    assertThat(ids(ONE)).containsExactly("b");
  }

  @Test
  void theOldestGoWhereMemoryIsShort() {
    for (int i = 0; i < 20; i++) {
      receipts.add(ONE, List.of(waiting("j" + i, 100_000)));
    }
    assertThat(ids(ONE)).hasSize(10).startsWith("j10").endsWith("j19");
    // What is replaced or dropped frees its memory.
    receipts.add(ONE, List.of(done("j10"), done("j11")));
    receipts.drop(ONE, id -> id.equals("j12"));
    receipts.drop(TWO, id -> true);
    receipts.add(ONE, List.of(waiting("k1", 100_000), waiting("k2", 100_000)));
    assertThat(ids(ONE)).contains("j10", "j11", "j13", "k1", "k2").doesNotContain("j12");
  }

  @Test
  void optionsOutOfRangeAreRefused() {
    for (long seconds : new long[] {-1, 301}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new ReceiptOptions(Duration.ofSeconds(seconds), 1 << 20))
          .withMessageContaining("between 0 and 5 min");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ReceiptOptions(Duration.ZERO, 1000))
        .withMessageContaining("at least 1 MB");
  }
}
