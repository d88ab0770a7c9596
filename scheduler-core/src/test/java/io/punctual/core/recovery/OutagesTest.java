package io.punctual.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.StoreException.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When an outage begins and ends, by the calls alone. */
class OutagesTest {

  private static final Bucket ONE = new Bucket(new QueueName("shop", "mail"), 0);
  private static final Bucket TWO = new Bucket(new QueueName("shop", "mail"), 1);

  private long now;
  private final Outages outages = new Outages(() -> now);

  private void failed(String call, Bucket bucket, Kind kind) {
    outages.failed(call, bucket, new StoreException(kind, call + " was not done"));
  }

  @Test
  void itLastsUntilEachBucketAnswersAnyCall() {
    failed("claim", ONE, Kind.UNREACHABLE);
    failed("claim", ONE, Kind.UNREACHABLE);
    failed("submit", TWO, Kind.UNREACHABLE);
    assertThat(outages.areOpen()).isTrue();
    outages.answered("claim", ONE);
    assertThat(outages.areOpen()).isTrue();
    // Any call on the bucket shows that its node answers.
    outages.answered("stats", TWO);
    assertThat(outages.areOpen()).isFalse();
  }

  @Test
  void whatWasRefusedIsOverWhenTheSameCallWorks() {
    failed("submit", ONE, Kind.REFUSED);
    outages.answered("claim", ONE);
    outages.answered("submit", TWO);
    assertThat(outages.areOpen()).isTrue();
    outages.answered("submit", ONE);
    assertThat(outages.areOpen()).isFalse();
  }

  @Test
  void aCallThatIsNotMadeAgainIsForgottenOnceTheStoreWorks() {
    failed("submit", ONE, Kind.REFUSED);
    now = Duration.ofSeconds(14).toNanos();
    outages.works(now);
    assertThat(outages.areOpen()).isTrue();
    now = Duration.ofSeconds(15).toNanos();
    outages.works(now);
    assertThat(outages.areOpen()).isFalse();
  }

  @Test
  void aDamagedBucketIsQuarantinedUntilAnyCallOnItWorks() {
    StoreException damage = new StoreException(Kind.CORRUPT, "x is a string, not a hash");
    assertThat(outages.failed("claim", ONE, damage)).isTrue();
    assertThat(outages.failed("submit", ONE, damage)).isFalse();
    assertThat(outages.isDamaged(ONE)).isTrue();
    assertThat(outages.damaged()).containsOnlyKeys(ONE.queue());
    outages.answered("claim", TWO);
    assertThat(outages.isDamaged(ONE)).isTrue();
    outages.answered("find", ONE);
    assertThat(outages.damaged()).isEmpty();
  }

  @Test
  void connectionsThatAnOutageBrokeBeginNoOtherOne() {
    failed("claim", ONE, Kind.UNREACHABLE);
    now = Duration.ofSeconds(1).toNanos();
    outages.answered("claim", ONE);
    failed("submit", TWO, Kind.UNREACHABLE);
    assertThat(outages.areOpen()).isFalse();
    now = Duration.ofSeconds(6).toNanos();
    failed("submit", TWO, Kind.UNREACHABLE);
    assertThat(outages.areOpen()).isTrue();
    outages.answered("submit", TWO);
    assertThat(outages.areOpen()).isFalse();
  }

  @Test
  void aBucketThatIsDamagedDidAnswer() {
    failed("claim", ONE, Kind.UNREACHABLE);
    failed("claim", ONE, Kind.CORRUPT);
    assertThat(outages.areOpen()).isFalse();
  }
}
