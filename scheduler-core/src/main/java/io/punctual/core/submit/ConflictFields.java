package io.punctual.core.submit;

import io.punctual.core.job.JobContent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Names the fields in which two jobs of one id differ, as a submitter calls them. */
final class ConflictFields {

  private ConflictFields() {}

  static List<String> between(JobContent wanted, JobContent there) {
    List<String> fields = new ArrayList<>();
    if (wanted.due().relative() != there.due().relative()) {
      fields.add("delayTime");
      fields.add("delay");
    } else if (wanted.due().millis() != there.due().millis()) {
      fields.add(wanted.due().relative() ? "delay" : "delayTime");
    }
    add(fields, "params", wanted.params(), there.params());
    add(fields, "timeToRun", wanted.timeToRun(), there.timeToRun());
    add(fields, "retry", wanted.retry(), there.retry());
    add(fields, "headers", wanted.headers(), there.headers());
    add(fields, "tags", wanted.tags(), there.tags());
    add(fields, "notAfter", wanted.timeRules().notAfter(), there.timeRules().notAfter());
    add(fields, "expiresIn", wanted.timeRules().expiresIn(), there.timeRules().expiresIn());
    add(fields, "within", wanted.timeRules().within(), there.timeRules().within());
    add(fields, "window", wanted.timeRules().window(), there.timeRules().window());
    add(fields, "windowZone", wanted.timeRules().windowZone(), there.timeRules().windowZone());
    add(fields, "calendar", wanted.timeRules().calendar(), there.timeRules().calendar());
    add(fields, "cancelOn", wanted.cancelOn(), there.cancelOn());
    add(fields, "runOn", wanted.runOn(), there.runOn());
    return List.copyOf(fields);
  }

  private static void add(
      List<String> fields,
      String name,
      @org.jspecify.annotations.Nullable Object wanted,
      @org.jspecify.annotations.Nullable Object there) {
    if (!Objects.equals(wanted, there)) {
      fields.add(name);
    }
  }
}
