package io.punctual.core.job;

import io.punctual.DelayQueueJob.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Tags by which the engine finds the jobs that wait for an event. They begin with a comma, which no
 * submitter can give, and are never shown.
 */
public final class EventTags {

  private static final String CANCEL = ",-";
  private static final String RUN = ",+";

  private EventTags() {}

  /** The tag of jobs that the event cancels. */
  public static String cancelOn(Event event) {
    return CANCEL + text(event);
  }

  /** The tag of jobs that the event makes due. */
  public static String runOn(Event event) {
    return RUN + text(event);
  }

  /** The event as one text. No name has an equals sign. */
  public static String text(Event event) {
    return event.name() + "=" + event.key();
  }

  /** The tags of a job with those of its events. */
  static List<String> with(List<String> tags, List<Event> cancelOn, List<Event> runOn) {
    if (cancelOn.isEmpty() && runOn.isEmpty()) {
      return tags;
    }
    return Stream.of(
            tags.stream(),
            cancelOn.stream().map(EventTags::cancelOn),
            runOn.stream().map(EventTags::runOn))
        .flatMap(each -> each)
        .sorted()
        .toList();
  }

  /** Whether it is one of these. */
  public static boolean isOne(String tag) {
    return tag.startsWith(CANCEL) || tag.startsWith(RUN);
  }

  /** Whether it is the tag of jobs that an event cancels. */
  public static boolean cancels(String tag) {
    return tag.startsWith(CANCEL);
  }

  /** The event of such a tag, as {@link #text}. */
  public static String event(String tag) {
    return tag.substring(CANCEL.length());
  }

  /** The events among tags that cancel the job, or else those that make it due. */
  public static List<Event> events(List<String> tags, boolean cancel) {
    List<Event> events = new ArrayList<>();
    for (String tag : tags) {
      int end = tag.indexOf('=');
      if (tag.startsWith(cancel ? CANCEL : RUN) && end > 0) {
        events.add(new Event(tag.substring(CANCEL.length(), end), tag.substring(end + 1)));
      }
    }
    return events;
  }
}
