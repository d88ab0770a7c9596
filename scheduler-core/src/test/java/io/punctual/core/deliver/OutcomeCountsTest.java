package io.punctual.core.deliver;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.QueueListener;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutcomeCountsTest {

  private static final QueueName QUEUE = new QueueName("shop", "mail");

  @Test
  void aDeadLetterIsLoggedWithItsReason() {
    assertThat(logged(Settlement.Op.REJECTED, "no such\norder"))
        .contains(
            "Job 7 of shop/mail is a dead letter now: rejected at shop-1. Reason: no such order");
    assertThat(logged(Settlement.Op.FAILED, "broken".repeat(100)))
        .contains(
            "Job 7 of shop/mail is a dead letter now: all attempts failed, the last at shop-1."
                + " Reason: brokenbroken")
        .contains("...")
        .doesNotContain("broken".repeat(34));
  }

  @Test
  void theErrorsOfFailedAttemptsAreTold() {
    List<String> told = new ArrayList<>();
    QueueListener listener =
        new QueueListener() {
          @Override
          public void failed(ErrorNote note) {
            told.add(note.instance() + " " + note.message());
          }
        };
    OutcomeCounts counts = new OutcomeCounts(QUEUE, listener);
    for (Settlement.Op op : Settlement.Op.values()) {
      counts.add(settlement(op, op.name()), new Settled(Settled.Kind.RETRY, 0));
    }
    counts.tell();

    assertThat(told)
        .containsExactlyInAnyOrder("shop-1 FAILED", "shop-1 UNKNOWN", "shop-1 REJECTED");
  }

  private static Settlement settlement(Settlement.Op op, String reason) {
    return new Settlement(
        op,
        "7",
        "1",
        new LeaseToken("t"),
        Duration.ZERO,
        /* alone= */ true,
        new ErrorNote("shop-1", reason).encode());
  }

  private static String logged(Settlement.Op op, String reason) {
    PrintStream err = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, /* autoFlush= */ true, StandardCharsets.UTF_8));
    try {
      new OutcomeCounts(QUEUE, QueueListener.NONE)
          .add(settlement(op, reason), new Settled(Settled.Kind.DEAD, 0));
    } finally {
      System.setErr(err);
    }
    return log.toString(StandardCharsets.UTF_8);
  }
}
