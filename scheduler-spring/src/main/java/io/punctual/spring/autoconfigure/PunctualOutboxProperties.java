package io.punctual.spring.autoconfigure;

import io.punctual.spring.outbox.OutboxOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Jobs that are written in the application's own transactions.
 *
 * @param enabled whether what is sent, cancelled or moved inside of a transaction of the DataSource
 *     is written in that transaction, to the table punctual_outbox, and sent from there
 * @param initializeSchema whether the table is made at the start: embedded for databases in memory,
 *     always, or never
 * @param pollInterval how often this instance looks for what others have left behind, 100 ms to 1
 *     min; its own commits are seen at once
 * @param lease how long what an instance has taken is left to it unless it extends that, 10 s to 5
 *     min: after this time what one that died was sending is sent by another one, which must be
 *     well within punctual.tombstones
 * @param keepRefused how long calls are kept that schedulers have refused for good, from 1 h
 * @param keepSent how long jobs are kept that were sent, after they were sent or are due, 1 min to
 *     10 years; they are sent again when the schedulers' Redis was emptied, came back as it was
 *     earlier, or was restarted. By default they are not kept
 */
@ConfigurationProperties("punctual.client.outbox")
public record PunctualOutboxProperties(
    @DefaultValue("false") boolean enabled,
    @DefaultValue("embedded") InitializeSchema initializeSchema,
    @DefaultValue("1s") Duration pollInterval,
    @DefaultValue("1m") Duration lease,
    @DefaultValue("30d") Duration keepRefused,
    @Nullable Duration keepSent) {

  /** Checks the values. */
  public PunctualOutboxProperties {
    require("poll-interval", pollInterval, Duration.ofMillis(100), Duration.ofMinutes(1));
    // At most half of what schedulers remember of a job that is done, or a repeated send runs
    // again.
    require("lease", lease, Duration.ofSeconds(10), Duration.ofMinutes(5));
    require("keep-refused", keepRefused, Duration.ofHours(1), Duration.ofDays(3650));
    if (keepSent != null) {
      require("keep-sent", keepSent, Duration.ofMinutes(1), Duration.ofDays(3650));
    }
  }

  private static void require(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "punctual.client.outbox.%s must be between %s and %s, not %s"
              .formatted(name, least, most, value));
    }
  }

  OutboxOptions options() {
    return new OutboxOptions(pollInterval, lease, keepRefused, keepSent);
  }
}
