package io.punctual.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ContactTest {

  private static final long SECOND = 1_000_000_000;
  private final Contact contact = new Contact(Duration.ofSeconds(12));

  @Test
  void nobodyExpiresLeasesBeforeTheFirstAnswerPlusAHeartbeat() {
    assertThat(contact.expireFrom()).isEqualTo(Long.MAX_VALUE);
    contact.answered(10 * SECOND);
    assertThat(contact.expireFrom()).isEqualTo(14 * SECOND);
  }

  @Test
  void aSilenceOfHalfALeaseGrantsAnotherHeartbeat() {
    contact.answered(10 * SECOND);
    contact.answered(16 * SECOND);
    assertThat(contact.expireFrom()).isEqualTo(14 * SECOND);
    contact.answered(22 * SECOND + 1);
    assertThat(contact.expireFrom()).isEqualTo(26 * SECOND + 1);
  }
}
