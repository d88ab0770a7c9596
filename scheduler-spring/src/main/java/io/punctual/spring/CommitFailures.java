package io.punctual.spring;

import org.jspecify.annotations.Nullable;

/** Is told of each call that was to follow a commit and failed: for a metric. */
@FunctionalInterface
public interface CommitFailures {

  /** Counts nothing. */
  CommitFailures NONE = (call, error) -> {};

  /** What waits for a commit. */
  enum Call {
    /** A job that is sent, by itself or with others. */
    SEND("send"),
    /** A job that is cancelled. */
    CANCEL("cancel"),
    /** Jobs that are cancelled by their tag. */
    CANCEL_BY_TAG("cancel-by-tag"),
    /** An event that has come. */
    EVENT("event"),
    /** A job that gets another due time. */
    RESCHEDULE("reschedule"),
    /** A job that went on without its worker, and is done. */
    FINISH("finish"),
    /** A job that went on without its worker, and failed. */
    FAIL("fail"),
    /** A job that went on without its worker, and can never succeed. */
    REJECT("reject");

    private final String text;

    Call(String text) {
      this.text = text;
    }

    /** As it stands in logs and metrics. */
    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * A call failed. Called on any thread.
   *
   * @param error null where it was not made, since nobody knows whether the transaction committed
   */
  void failed(Call call, @Nullable Throwable error);
}
