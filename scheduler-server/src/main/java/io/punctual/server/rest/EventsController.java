package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.DelayQueueJob.Event;
import io.punctual.core.Operations.EventDone;
import io.punctual.core.Operations.EventItem;
import io.punctual.core.job.QueueName;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.JobService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Takes events for jobs. */
@RestController
@RequestMapping("/api/v1/events")
class EventsController {

  private static final int MAX_APPLICATIONS = 32;
  private static final int MAX_ITEMS = 1000;

  private final JobService jobs;

  EventsController(JobService jobs) {
    this.jobs = jobs;
  }

  /**
   * An event.
   *
   * @param applications that the event is for; null for the caller's own
   */
  record EventRequest(String name, String key, @Nullable List<String> applications) {

    EventRequest {
      name = JobFields.requiredName("name", name);
      key = JobFields.eventKey("key", key);
      applications =
          applications == null || applications.isEmpty()
              ? own()
              : JobFields.names("applications", applications);
      if (applications.size() > MAX_APPLICATIONS) {
        throw ApiException.invalid("applications", "must be at most " + MAX_APPLICATIONS);
      }
    }

    private static List<String> own() {
      String own = Ownership.application(null);
      if (own == null) {
        throw ApiException.invalid(
            "applications", "is missing: name the applications that the event is for");
      }
      return List.of(own);
    }
  }

  /**
   * What an event did.
   *
   * @param items the first 1,000 jobs
   * @param damaged queues whose jobs may have missed the event
   */
  record EventAnswer(
      int matched,
      Map<String, Integer> outcomes,
      List<Item> items,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> damaged) {}

  record Item(String application, String taskType, String taskId, String outcome) {

    private static Item of(EventItem item) {
      return new Item(
          item.queue().application(), item.queue().taskType(), item.taskId(), text(item));
    }
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping
  EventAnswer event(@Body EventRequest request) {
    List<EventDone> done =
        jobs.event(
            new Event(request.name(), request.key()),
            Objects.requireNonNull(request.applications()).stream()
                .map(application -> application.toLowerCase(Locale.ROOT))
                .distinct()
                .toList());
    List<EventItem> items = done.stream().flatMap(each -> each.items().stream()).toList();
    Map<String, Integer> outcomes = new TreeMap<>();
    items.forEach(item -> outcomes.merge(text(item), 1, Integer::sum));
    return new EventAnswer(
        items.size(),
        outcomes,
        items.stream().limit(MAX_ITEMS).map(Item::of).toList(),
        done.stream().flatMap(each -> each.damaged().stream()).map(QueueName::toString).toList());
  }

  private static String text(EventItem item) {
    return item.outcome().name().toLowerCase(Locale.ROOT);
  }
}
