package io.punctual.core.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import org.junit.jupiter.api.Test;

class ScanCountTest {

  private static final QueueName QUEUE = new QueueName("shop", "close");

  private final ScanCount scanners = new ScanCount();

  @Test
  void scannersThatEndWithoutHavingBeenStoppedAreNamed() {
    Bucket broken = new Bucket(QUEUE, 1);
    scanners.started();
    scanners.started();
    scanners.started();
    scanners.ended(new Bucket(QUEUE, 0), true);
    scanners.ended(broken, false);

    assertThat(scanners.running()).isEqualTo(1);
    assertThat(scanners.ended()).containsExactly(broken.toString());
  }
}
