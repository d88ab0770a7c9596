package io.punctual.wire;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The body that the scheduler POSTs to a worker application: jobs of one queue, to be run
 * independently of each other.
 *
 * @param application the application that these jobs belong to, in lower case; anybody else must
 *     refuse them with 421
 * @param instance the registry id of the instance that is meant: another one refuses the request
 *     with 421; null if the sender names none
 * @param address the URL that was called, as the registry says it: another instance refuses the
 *     request with 421, so that nobody can pass it on; null if the sender gives none
 * @param jobs none makes it a ping, which is answered with a {@link PingAnswer}
 * @param cancelled jobs whose attempts are to stop, in a ping; null for none
 */
public record CallbackRequest(
    String application,
    @Nullable String instance,
    @Nullable String address,
    List<Job> jobs,
    @Nullable List<Cancelled> cancelled) {

  /** A call that stops nothing. */
  public CallbackRequest(
      String application, @Nullable String instance, @Nullable String address, List<Job> jobs) {
    this(application, instance, address, jobs, null);
  }

  /** A job that was cancelled while it runs. It may not be here yet, or not any more. */
  public record Cancelled(String taskType, String taskId, String incarnation) {}

  /** Request header: the application that is meant, for those who do not read further. */
  public static final String APPLICATION = "Punctual-Application";

  /** Request header, single protocol: {@link Job#version}. */
  public static final String VERSION = "Punctual-Version";

  /** Request header, single protocol: {@link Job#claimedAt}. */
  public static final String CLAIMED_AT = "Punctual-Claimed-At";

  /** Request header, single protocol: the right to speak for the attempt. */
  public static final String TOKEN = "Punctual-Token";

  /**
   * Response header, single protocol, with the status 202: the time within which the job is ended
   * by its token, such as {@code 10m}. Where answers are signed, the content is {@code 202}, a
   * space, and this.
   */
  public static final String DEFER = "Punctual-Defer";

  /**
   * One attempt of one job.
   *
   * @param incarnation the server's name for this accepted job: stays the same over all attempts,
   *     and is another one when the task id is used again
   * @param attempt counted from 1
   * @param version the number of this claim among the changes of the job: a later claim has a
   *     larger one, also after the job was replaced or revised. It begins again when the task id is
   *     free, and when Redis came back older than it was
   * @param claimedAt epoch milliseconds by Redis's clock at which the job was claimed. A delivery
   *     that has a smaller version and an earlier claim than another one of the same task id is the
   *     older one
   * @param dueTime epoch milliseconds at which the job was due at first
   * @param lateSince epoch milliseconds from which on this attempt is late: the due time of the
   *     job, for a further attempt that of the retry; or when the job was accepted or the hours of
   *     its queue began, if that was later. Null from schedulers of an earlier release
   * @param timeToRun milliseconds that this attempt may take
   * @param params text, as submitted
   * @param headers as submitted
   * @param token the right to speak for this attempt, of which the API's calls for claims know what
   *     to make; null if whoever sends this gives none
   */
  public record Job(
      String taskId,
      String taskType,
      String incarnation,
      int attempt,
      long version,
      long claimedAt,
      long dueTime,
      @Nullable Long lateSince,
      long timeToRun,
      String params,
      Map<String, String> headers,
      @Nullable String token) {}
}
