package io.punctual.server.api;

import io.punctual.Limits;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.JobView;
import io.punctual.core.engine.Operations;
import io.punctual.core.engine.Operations.Listed;
import io.punctual.core.engine.Operations.TagCursor;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.Cursor;
import io.punctual.core.store.JobStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Finds jobs by a filter, page by page. A page looks at a bounded number of jobs. */
@Component
public class JobSearch {

  /** Most jobs that one call looks at: a filter that nothing matches must end, too. */
  private static final int MAX_LOOKED_AT = 5_000;

  private final Operations operations;

  JobSearch(Engine engine) {
    this.operations = engine.operations();
  }

  /**
   * Part of what was found.
   *
   * @param next where to go on; null at the end. There may be more even if nothing was found
   */
  public record Found(List<JobView> jobs, @Nullable String next) {}

  /**
   * Finds jobs.
   *
   * @param cursor where to go on; null for the beginning
   * @param max most jobs
   * @throws ApiException 400 for a cursor of another filter
   */
  public Found find(JobFilter filter, @Nullable String cursor, int max) {
    return filter.tag() != null
        ? byTag(filter, filter.tag(), cursor, max)
        : byState(filter, cursor, max);
  }

  private Found byState(JobFilter filter, @Nullable String cursor, int max) {
    JobFilter.State state = filter.state();
    if (state == null) {
      throw new IllegalArgumentException("a filter without tag has a state");
    }
    String[] parts = parts(filter, cursor, 2);
    Cursor after = null;
    if (parts.length == 2) {
      after = new Cursor(number(parts[0]), parts[1]);
    } else if (filter.from() != null) {
      // Behind every id of the moment before.
      after = new Cursor(filter.from() - 1, "~".repeat(129));
    }
    List<JobView> found = new ArrayList<>();
    int looked = 0;
    while (looked < MAX_LOOKED_AT) {
      int page = Math.min(JobStore.MAX_JOBS, Math.max(1, max - found.size()));
      Listed<Cursor> listed = operations.jobs(filter.queue(), state.stored, after, page);
      looked += Math.max(1, listed.jobs().size());
      for (JobView job : listed.jobs()) {
        if ((filter.until() != null && job.at() > filter.until())
            || (state == JobFilter.State.READY && !job.ready())) {
          return new Found(found, null);
        }
        if (filter.matches(job)) {
          found.add(job);
        }
      }
      after = listed.next();
      if (after == null) {
        return new Found(found, null);
      } else if (found.size() == max) {
        break;
      }
    }
    return new Found(
        found, after == null ? null : cursor(filter, Long.toString(after.score()), after.taskId()));
  }

  private Found byTag(JobFilter filter, String tag, @Nullable String cursor, int max) {
    String[] parts = parts(filter, cursor, 3);
    TagCursor after = null;
    if (parts.length == 3) {
      after = tagCursor(filter, parts);
    }
    List<JobView> found = new ArrayList<>();
    int looked = 0;
    while (looked < MAX_LOOKED_AT) {
      int page = Math.min(JobStore.MAX_JOBS, Math.max(1, max - found.size()));
      Listed<TagCursor> listed = operations.tagged(filter.application(), tag, after, page);
      looked += Math.max(1, listed.jobs().size());
      listed.jobs().stream().filter(filter::matches).forEach(found::add);
      after = listed.next();
      if (after == null) {
        return new Found(found, null);
      } else if (found.size() == max) {
        break;
      }
    }
    return new Found(
        found,
        after == null
            ? null
            : cursor(
                filter,
                after.queue().taskType(),
                Integer.toString(after.bucket()),
                after.taskId()));
  }

  private static TagCursor tagCursor(JobFilter filter, String[] parts) {
    if (!Limits.isName(parts[0]) || !Limits.isName(parts[2])) {
      throw foreign();
    }
    return new TagCursor(
        new QueueName(filter.application(), parts[0]), (int) number(parts[1]), parts[2]);
  }

  private static String cursor(JobFilter filter, String... parts) {
    String text = filter.fingerprint() + "\n" + String.join("\n", parts);
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String[] parts(JobFilter filter, @Nullable String cursor, int count) {
    if (cursor == null) {
      return new String[0];
    }
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      String[] all = text.split("\n", -1);
      if (all.length == count + 1 && all[0].equals(filter.fingerprint())) {
        return java.util.Arrays.copyOfRange(all, 1, all.length);
      }
    } catch (IllegalArgumentException e) {
      throw foreign();
    }
    throw foreign();
  }

  private static long number(String text) {
    if (!text.matches("\\d{1,15}")) {
      throw foreign();
    }
    return Long.parseLong(text);
  }

  private static ApiException foreign() {
    return ApiException.invalid(
        "cursor", "is none of this search: take nextCursor of an answer, with the same filter");
  }
}
