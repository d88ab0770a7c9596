package io.punctual.systemtest;

import io.punctual.systemtest.Change.Answer;
import io.punctual.systemtest.Change.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;

/**
 * Submits jobs and changes each of them several times, through any scheduler: moves, revises,
 * replaces, cancels, runs and submits it again, and requeues it when it is dead. Writes down each
 * call with its answer.
 */
public final class ChangingLoad implements AutoCloseable {

  // Longer than any fault lasts: no attempt is given up on, and no claim ends, by its time.
  private static final Duration TIME_TO_RUN = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(6);
  private static final int MOST_REQUEUES = 10;
  private static final List<Kind> CHANGES =
      List.of(
          Kind.MOVE_LATER,
          Kind.MOVE_LATER,
          Kind.MOVE_EARLIER,
          Kind.MOVE_EARLIER,
          Kind.REVISE,
          Kind.REVISE,
          Kind.REPLACE,
          Kind.REPLACE,
          Kind.RUN_NOW,
          Kind.CANCEL,
          Kind.CANCEL_BY_TAG);

  private final String application;
  private final String type;
  private final List<String> schedulers;
  private final Map<String, List<Change>> calls = new ConcurrentHashMap<>();
  private final List<String> surprises = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger jobs = new AtomicInteger();
  private final ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * @param schedulers their addresses
   */
  public ChangingLoad(String application, String type, List<String> schedulers) {
    this.application = application;
    this.type = type;
    this.schedulers = List.copyOf(schedulers);
  }

  /** How long the jobs may run, and how long a puller may keep them. */
  public static String timeToRun() {
    return TIME_TO_RUN.toSeconds() + "s";
  }

  /** Begins; goes on until {@link #close}. */
  public ChangingLoad start(int jobsPerSecond) {
    var unused =
        pace.scheduleAtFixedRate(
            () -> threads.execute(new Life("changed-" + jobs.getAndIncrement())::live),
            0,
            TimeUnit.SECONDS.toMicros(1) / jobsPerSecond,
            TimeUnit.MICROSECONDS);
    return this;
  }

  /** What was seen so far. */
  public History history() {
    return History.of(copy());
  }

  /** Returns how many calls of each kind were acknowledged. */
  public Map<Kind, Integer> acknowledged() {
    Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
    copy().values().stream()
        .flatMap(List::stream)
        .filter(Change::acknowledged)
        .forEach(call -> counts.merge(call.kind(), 1, Integer::sum));
    return counts;
  }

  /** Returns how many calls were made. */
  public int calls() {
    return copy().values().stream().mapToInt(List::size).sum();
  }

  /** Returns how many of the calls were submits. */
  public int submits() {
    return (int)
        copy().values().stream()
            .flatMap(List::stream)
            .filter(call -> call.kind() == Kind.SUBMIT)
            .count();
  }

  /** Returns the answers that no call may get. */
  public List<String> surprises() {
    return List.copyOf(surprises);
  }

  /** Returns the calls of a job, a line each. */
  public String evidence(Iterable<String> ids) {
    StringBuilder lines = new StringBuilder();
    for (String id : ids) {
      calls.getOrDefault(id, List.of()).forEach(call -> lines.append(id + " " + call + "\n"));
    }
    return lines.toString();
  }

  /** Requeues all dead letters; answers whether nothing is left of all jobs. */
  public boolean drained(String scheduler) throws IOException {
    String queue = scheduler + "/api/v1/queues/" + application + "/" + type;
    JsonNode counts = Http.get(queue).json();
    if (counts.get("dead").intValue() > 0) {
      JsonNode dead =
          Http.get(
                  scheduler
                      + "/api/v1/jobs?state=dead&application=%s&taskType=%s"
                          .formatted(application, type))
              .json();
      for (JsonNode job : dead.get("items")) {
        new Life(job.get("taskId").stringValue()).requeue();
      }
      return false;
    }
    return counts.get("delayed").intValue() == 0 && counts.get("reserved").intValue() == 0;
  }

  private Map<String, List<Change>> copy() {
    Map<String, List<Change>> copy = new HashMap<>();
    calls.forEach((id, made) -> copy.put(id, List.copyOf(made)));
    return copy;
  }

  /** Ends, after every job has been changed as often as it shall be. */
  @Override
  public void close() {
    pace.close();
    threads.close();
  }

  /** The calls for one job, each after the answer to the one before. */
  private final class Life {

    private final String id;
    private final RandomGenerator random = RandomGenerator.getDefault();
    private final List<Change> made;
    private int version;
    // One attempt, which fails: the job is dead until it is requeued.
    private final boolean dies = random.nextInt(8) == 0;

    Life(String id) {
      this.id = id;
      this.made = calls.computeIfAbsent(id, key -> Collections.synchronizedList(new ArrayList<>()));
    }

    void live() {
      call(Kind.SUBMIT, 1_500, 4_000);
      int changes = random.nextInt(4, 7);
      boolean cancelled = false;
      for (int i = 0; i < changes; i++) {
        pause(0, 300);
        if (cancelled) {
          cancelled = call(Kind.SUBMIT, 300, 3_000) == Answer.REFUSED;
        } else {
          Kind kind = CHANGES.get(random.nextInt(CHANGES.size()));
          cancelled = change(kind) == Answer.ACKNOWLEDGED && kind.cancels();
        }
      }
      if (dies) {
        // Each worker fails it once. Were it left to the end, all would fail then, one after the
        // other, and open the circuit.
        for (int i = 0; i < MOST_REQUEUES && awaitEnd().equals("dead"); i++) {
          requeue();
        }
      } else if (random.nextInt(8) == 0) {
        String unused = awaitEnd();
        call(Kind.REPLACE, 300, 3_000);
      }
    }

    private Answer change(Kind kind) {
      return switch (kind) {
        case MOVE_LATER, REPLACE -> call(kind, 1_500, 4_000);
        case MOVE_EARLIER -> call(kind, 200, 1_000);
        default -> call(kind, 0, 1);
      };
    }

    void requeue() {
      call(Kind.REQUEUE, 0, 1);
    }

    /** Makes the call through any scheduler, with a due time so many ms from now. */
    private Answer call(Kind kind, int minDelay, int maxDelay) {
      String scheduler = schedulers.get(random.nextInt(schedulers.size()));
      long from = EpochMicros.now();
      long due = from / 1000 + random.nextLong(minDelay, maxDelay);
      int given = kind.givesContent() ? ++version : version;
      Answer answer;
      try {
        answer = answer(kind, send(scheduler, kind, due, given));
      } catch (IOException e) {
        answer = Answer.UNKNOWN;
      }
      long until = answer == Answer.UNKNOWN ? Long.MAX_VALUE : EpochMicros.now();
      made.add(new Change(kind, from, until, answer, due, given));
      return answer;
    }

    private Http.Answer send(String scheduler, Kind kind, long due, int given) throws IOException {
      String api = scheduler + "/api/v1/jobs";
      String job = api + "/" + application + "/" + type + "/" + id;
      return switch (kind) {
        case SUBMIT -> Http.post(api, content(due, given));
        case REPLACE -> Http.post(api + "?onConflict=replace", content(due, given));
        case REVISE -> Http.patch(job, "{\"params\":\"" + params(given) + "\"}");
        case MOVE_LATER, MOVE_EARLIER -> Http.patch(job, "{\"delayTime\":" + due + "}");
        case RUN_NOW -> Http.post(job + "/run", "");
        case REQUEUE -> Http.post(job + "/requeue", "");
        case CANCEL -> Http.delete(job);
        case CANCEL_BY_TAG ->
            Http.post(
                api + ":cancel",
                "{\"application\":\"%s\",\"taskType\":\"%s\",\"tag\":\"%s\"}"
                    .formatted(application, type, tag()));
      };
    }

    private String content(long due, int given) {
      return """
      {"application":"%s","taskType":"%s","taskId":"%s","delayTime":%d,"params":"%s",\
      "retry":"%s","timeToRun":%d,"tags":["%s"]}\
      """
          .formatted(
              application,
              type,
              id,
              due,
              params(given),
              dies ? "never" : "200ms;attempts=100",
              TIME_TO_RUN.toMillis(),
              tag());
    }

    private String params(int given) {
      return Execution.content(id, given) + (dies || given % 4 == 0 ? " fail 1" : " record");
    }

    private String tag() {
      return "of:" + id;
    }

    private Answer answer(Kind kind, Http.Answer answer) {
      int status = answer.status();
      if (kind == Kind.CANCEL_BY_TAG && status == 200) {
        return ofOneOfMany(answer.json());
      } else if (status / 100 == 2) {
        return Answer.ACKNOWLEDGED;
      } else if (status == 404 || status == 409) {
        return Answer.REFUSED;
      } else if (status < 500 && status != 412) {
        surprises.add(kind + " of " + id + ": " + answer);
      }
      return Answer.UNKNOWN;
    }

    private Answer ofOneOfMany(JsonNode json) {
      for (JsonNode item : json.get("items")) {
        String outcome = item.get("outcome").stringValue();
        if (outcome.equals("cancelled")) {
          return Answer.ACKNOWLEDGED;
        } else if (outcome.equals("unconfirmed")) {
          return Answer.UNKNOWN;
        }
      }
      return Answer.REFUSED;
    }

    /** Returns "dead" or "finished"; empty if it is neither in time. */
    private String awaitEnd() {
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (System.nanoTime() < end) {
        pause(400, 900);
        try {
          String scheduler = schedulers.get(random.nextInt(schedulers.size()));
          String job = scheduler + "/api/v1/jobs/" + application + "/" + type + "/" + id;
          String state = Http.get(job).json().path("state").asString("");
          if (state.equals("dead") || state.equals("finished")) {
            return state;
          }
        } catch (IOException ignored) {
          // Something is broken; the next look may go through.
        }
      }
      return "";
    }

    private void pause(int minMillis, int maxMillis) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextLong(minMillis, maxMillis)));
    }
  }
}
