package io.punctual.test;

/**
 * Calls that the application under test keeps until a scheduler has taken them, such as those in an
 * outbox. In production something in the background makes them; in tests the {@link TestScheduler}
 * says when.
 */
public interface PendingCalls {

  /** There are none. */
  PendingCalls NONE =
      new PendingCalls() {
        @Override
        public void make() {}

        @Override
        public void forget() {}
      };

  /** Makes those that can be made now, and returns when that is done. */
  void make();

  /** Drops all of them. */
  void forget();
}
