package io.punctual.server.input;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.query.JobView;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The strong entity tag of a job: its incarnation and the number of its last change, so that a job
 * that uses the id of another one never matches that one's tag.
 */
public final class EntityTag {

  private static final Pattern TAG = Pattern.compile("\"([^\"\\s]+)\\.(\\d{1,18})\"");

  private EntityTag() {}

  public static String of(JobView job) {
    String incarnation = job.incarnation();
    return incarnation == null
        ? "\"" + job.state().name().toLowerCase(Locale.ROOT) + "." + job.at() + "\""
        : of(new JobVersion(incarnation, job.version()));
  }

  public static String of(JobVersion version) {
    return "\"" + version.incarnation() + "." + version.number() + "\"";
  }

  /**
   * Reads {@code If-Match}.
   *
   * @return the versions that it names, without tags of any other form; null where any will do
   */
  public static @Nullable List<JobVersion> versions(@Nullable String ifMatch) {
    if (ifMatch == null || ifMatch.strip().equals("*")) {
      return null;
    }
    return Arrays.stream(ifMatch.split(","))
        .map(tag -> TAG.matcher(tag.strip()))
        .filter(Matcher::matches)
        .map(tag -> new JobVersion(tag.group(1), Long.parseLong(tag.group(2))))
        .toList();
  }
}
