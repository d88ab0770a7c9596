package io.punctual.test;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.concurrent.atomic.AtomicLong;

/** Stands still unless moved. To the millisecond, as due times are. */
final class TestClock extends Clock {

  private final AtomicLong millis;
  private final ZoneId zone;

  TestClock(AtomicLong millis, ZoneId zone) {
    this.millis = millis;
    this.zone = zone;
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  /** The same clock: it is moved together with this one. */
  @Override
  public Clock withZone(ZoneId other) {
    return new TestClock(millis, other);
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis.get());
  }

  @Override
  public long millis() {
    return millis.get();
  }

  @Override
  public String toString() {
    return "TestClock[" + instant() + ", " + zone + "]";
  }
}
