package io.punctual.server.migrate;

import io.punctual.wire.Limits;

/** What another library kept, as far as Punctual takes it over. */
sealed interface OldWork permits OldJob, OldSchedule, OldWork.Removed {

  /** Returns what its jobs carry. */
  String params();

  /**
   * Returns this.
   *
   * @throws UnreadableException if it carries more than a job may
   */
  default OldWork fitting() throws UnreadableException {
    if (!Limits.isParams(params())) {
      throw new UnreadableException(
          "has a payload of more than %,d bytes".formatted(Limits.MAX_PARAMS_BYTES));
    }
    return this;
  }

  /**
   * A job that the old side removed after it was taken.
   *
   * @param id that it has in Punctual, if an earlier run has submitted it
   */
  record Removed(String id) implements OldWork {

    @Override
    public String params() {
      return "";
    }
  }
}
