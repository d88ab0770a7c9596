package io.punctual.systemtest;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What schedulers say at {@code /actuator/prometheus} of jobs that go out again. */
public final class Redeliveries {

  private static final Pattern CAUSE = Pattern.compile("cause=\"([a-z_]+)\"");

  private final String application;
  private final String type;
  private final Map<String, Integer> byCause = new TreeMap<>();

  /** Those of all task types. */
  public Redeliveries(String application) {
    this(application, "");
  }

  /** Those of one task type. */
  public Redeliveries(String application, String type) {
    this.application = application;
    this.type = type;
  }

  /** Adds what a scheduler has counted since its start. To be called once for each of its lives. */
  public void add(JavaProcess scheduler) {
    try {
      Http.getText(scheduler.url() + "/actuator/prometheus").body().lines().forEach(this::add);
    } catch (IOException e) {
      // It stands still, or has just been started: what it has counted is not known.
      return;
    }
  }

  private void add(String line) {
    Matcher cause = CAUSE.matcher(line);
    if (line.startsWith("punctual_jobs_redeliveries_total{")
        && line.contains("application=\"" + application + "\"")
        && (type.isEmpty() || line.contains("task_type=\"" + type + "\""))
        && cause.find()) {
      int value = (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
      byCause.merge(cause.group(1), value, Integer::sum);
    }
  }

  public Map<String, Integer> byCause() {
    return byCause;
  }
}
