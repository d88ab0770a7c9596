package io.punctual;

/**
 * Every error that a user of Punctual can meet. The {@link #slug} is the last part of the problem
 * type in HTTP answers and the value of metric tags.
 */
public enum ErrorCode {
  /** The input is malformed or out of range. */
  INVALID("invalid", 400),
  /** No credentials, or wrong ones. */
  UNAUTHENTICATED("unauthenticated", 401),
  /** Known, but not allowed to do this. */
  FORBIDDEN("forbidden", 403),
  /** No such job, queue or path. */
  NOT_FOUND("not-found", 404),
  /** The path exists, but not for this method. */
  METHOD_NOT_ALLOWED("method-not-allowed", 405),
  /** Another job with this id, and other content, is there. */
  CONFLICT("conflict", 409),
  /** The job is in a state in which this cannot be done. */
  WRONG_STATE("wrong-state", 409),
  /** Somebody had the job, and it is not theirs any more. */
  LEASE_LOST("lease-lost", 409),
  /** The job is not the version of {@code If-Match}, or {@code If-None-Match} found a schedule. */
  CHANGED("changed", 412),
  /** The body is larger than allowed. */
  TOO_LARGE("too-large", 413),
  /** The body is not of a content type that we read. */
  UNSUPPORTED_MEDIA_TYPE("unsupported-media-type", 415),
  /** The same {@code Idempotency-Key} came with another job. */
  IDEMPOTENCY_KEY_REUSED("idempotency-key-reused", 422),
  /** Too much of it; try again later. */
  TOO_MANY("too-many", 429),
  /** Something went wrong in the scheduler itself. */
  INTERNAL("internal", 500),
  /** The store cannot be reached, is full, or this instance is shutting down. Try again later. */
  UNAVAILABLE("unavailable", 503);

  private final String slug;
  private final int status;

  ErrorCode(String slug, int status) {
    this.slug = slug;
    this.status = status;
  }

  /** The stable name in URLs and metrics. */
  public String slug() {
    return slug;
  }

  /** The HTTP status that goes with it. */
  public int status() {
    return status;
  }

  /** Whether the same call may succeed later without any change to it. */
  public boolean isTransient() {
    return this == UNAVAILABLE || this == TOO_MANY;
  }
}
