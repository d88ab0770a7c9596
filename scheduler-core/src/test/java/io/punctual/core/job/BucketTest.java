package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BucketTest {

  private static final QueueName QUEUE = new QueueName("shop", "order.close");

  @Test
  void aDecimalIdGoesByItsNumber() {
    assertThat(Bucket.of(QUEUE, "0", 4).index()).isZero();
    assertThat(Bucket.of(QUEUE, "7", 4).index()).isEqualTo(3);
    assertThat(Bucket.of(QUEUE, "0007", 4).index()).isEqualTo(3);
    assertThat(Bucket.of(QUEUE, "999999999999999999", 64).index()).isEqualTo(63);
  }

  @Test
  void anyOtherIdGoesByItsChecksum() {
    // CRC-32 of "a" is e8b7be43.
    assertThat(Bucket.of(QUEUE, "a", 64).index()).isEqualTo(0xe8b7be43 & 63);
    assertThat(Bucket.of(QUEUE, "1234567890123456789", 64).index()).isBetween(0, 63);
  }

  @Test
  void idsSpreadEvenly() {
    Map<Integer, Integer> counts = new HashMap<>();
    for (int i = 0; i < 64_000; i++) {
      counts.merge(Bucket.of(QUEUE, "order-" + i, 64).index(), 1, Integer::sum);
    }
    assertThat(counts).hasSize(64);
    assertThat(counts.values()).allMatch(count -> count > 700 && count < 1300);
  }

  @Test
  void anIndexOutOfRangeIsRefused() {
    assertThatThrownBy(() -> new Bucket(QUEUE, 64)).hasMessageContaining("64");
  }
}
