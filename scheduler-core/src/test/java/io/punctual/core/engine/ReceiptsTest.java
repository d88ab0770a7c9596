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

  private void add(Bucket bucket, List<Restoration> restorations) {
    long content = 0;
    for (Restoration restoration : restorations) {
      JobRecord job = restoration.job();
      content += job == null ? 0 : job.content().length;
    }
    receipts.add(bucket, restorations.size(), content, () -> restorations);
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
    add(ONE, List.of(waiting("a", 1), waiting("b", 1)));
    add(TWO, List.of(waiting("a", 1)));
    add(ONE, List.of(done("a")));

    assertThat(ids(ONE)).containsExactly("b", "a");
    assertThat(receipts.all().getOrDefault(ONE, List.of()))
        .last()
        .returns(Restoration.Kind.DONE, Restoration::kind);
    assertThat(ids(TWO)).containsExactly("a");
  }

  @Test
  void whatHasEndedDoesNotWaitAgainIfItsReceiptsComeInTheWrongOrder() {
    add(ONE, List.of(done("a")));
    add(ONE, List.of(waiting("a", 1)));
    assertThat(receipts.all().getOrDefault(ONE, List.of()))
        .singleElement()
        .returns(Restoration.Kind.DONE, Restoration::kind);

    JobRecord next = new JobRecord("i-2", 1, 1, 0, List.of(), new byte[1]);
    add(ONE, List.of(Restoration.waiting(Restoration.Kind.WAITING, "a", 1, next)));
    assertThat(receipts.all().getOrDefault(ONE, List.of()))
        .singleElement()
        .returns(Restoration.Kind.WAITING, Restoration::kind);
  }

  @Test
  void theEndOfAnEarlierJobDoesNotEndItsSuccessor() {
    JobRecord next = new JobRecord("i-2", 1, 2, 0, List.of(), new byte[1]);
    add(ONE, List.of(Restoration.waiting(Restoration.Kind.WAITING, "a", 1, next)));
    add(ONE, List.of(done("a")));
    assertThat(receipts.all().getOrDefault(ONE, List.of()))
        .singleElement()
        .returns("i-2", Restoration::incarnation);
  }

  @Test
  void theyGoWithTimeButNotWhileNobodyKnowsTheStore() {
    add(ONE, List.of(waiting("a", 1)));
    passSeconds(20);
    add(ONE, List.of(waiting("b", 1)));
    passSeconds(1000);
    assertThat(ids(ONE)).containsExactly("a", "b");
    receipts.verified();
    assertThat(ids(ONE)).isEmpty();

    add(ONE, List.of(waiting("a", 1)));
    passSeconds(20);
    add(ONE, List.of(waiting("b", 1)));
    passSeconds(11);
    receipts.verified();
    assertThat(ids(ONE)).containsExactly("b");
  }

  @Test
  void theOldestGoWhereMemoryIsShort() {
    for (int i = 0; i < 20; i++) {
      add(ONE, List.of(waiting("j" + i, 100_000)));
    }
    assertThat(ids(ONE)).hasSize(10).startsWith("j10").endsWith("j19");
    add(ONE, List.of(waiting("large", 900_000)));
    assertThat(ids(ONE)).containsExactly("j19", "large");
  }

  @Test
  void whatMustNotComeBackIsForgotten() {
    add(ONE, List.of(waiting("a", 1), waiting("b", 1), waiting("c", 1)));
    add(TWO, List.of(waiting("a", 1)));
    receipts.drop(ONE, List.of("b", "none"));
    assertThat(ids(ONE)).containsExactly("a", "c");
    receipts.dropAll(ONE);
    assertThat(ids(ONE)).isEmpty();
    assertThat(ids(TWO)).containsExactly("a");
    add(ONE, List.of(waiting("a", 1)));
    assertThat(ids(ONE)).containsExactly("a");
  }

  @Test
  void withoutKeepingNothingIsRemembered() {
    Receipts none = new Receipts(new ReceiptOptions(Duration.ZERO, 1 << 20), () -> now);
    none.add(ONE, 1, 1, () -> List.of(waiting("a", 1)));
    assertThat(none.areKept()).isFalse();
    assertThat(none.all()).isEmpty();
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
