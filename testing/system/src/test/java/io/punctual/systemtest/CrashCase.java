package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Puller.Pulled;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A call of a script that changes jobs, and how a scheduler comes to make it. Each has a queue of
 * its own, whose task type is its name, and one job in each round.
 */
enum CrashCase {
  SUBMIT("submit") {
    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.submitAgain(this, round.survivor())).isTrue();
    }
  },

  /** A scanner takes what is due, for a worker that it calls. */
  CLAIM("claim") {
    @Override
    List<String> marks(CrashRound round) {
      return List.of(round.queueMark(this), CrashRound.mark("sent"));
    }

    @Override
    String answerMark(CrashRound round) {
      return CrashRound.mark(round.id(this));
    }

    @Override
    String work(CrashRound round) {
      return "record";
    }

    @Override
    Times expired(CrashPoint point) {
      return ofTaken(point);
    }
  },

  /** Somebody who asks for jobs takes it. */
  PULL("claim") {
    @Override
    List<String> marks(CrashRound round) {
      return List.of(round.queueMark(this));
    }

    @Override
    String answerMark(CrashRound round) {
      return CrashRound.mark(round.id(this));
    }

    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      // However late the answer comes: whoever asked does what it got.
      for (Pulled job : round.puller().pull(round.victim(), List.of(type()), "2s")) {
        round.work(job, round.survivor());
      }
    }

    @Override
    Times expired(CrashPoint point) {
      return ofTaken(point);
    }
  },

  /** A worker that was called has done it. */
  ACK("settle", "done") {
    @Override
    String work(CrashRound round) {
      return "record";
    }

    @Override
    Times expired(CrashPoint point) {
      return onceIf(point == CrashPoint.BEFORE);
    }
  },

  /** A worker that was called says that it failed. */
  FAIL("settle", "failed") {
    @Override
    String work(CrashRound round) {
      return "fail 1";
    }

    @Override
    Times expired(CrashPoint point) {
      // Or the victim took it once more before its end.
      return point == CrashPoint.BEFORE ? Times.ONCE : Times.AT_MOST_ONCE;
    }

    @Override
    Times failed(CrashPoint point) {
      return onceIf(point != CrashPoint.BEFORE);
    }
  },

  /** A worker that was called says that it never will. */
  REJECT("settle", "rejected") {
    @Override
    String work(CrashRound round) {
      return "reject no";
    }

    @Override
    Times expired(CrashPoint point) {
      return onceIf(point == CrashPoint.BEFORE);
    }

    @Override
    String state() {
      return "dead";
    }
  },

  /** A worker that was called is at it still, and the lease must go on. */
  HEARTBEAT("extend") {
    @Override
    String work(CrashRound round) {
      // Longer than the others take until they are there, and than the lease.
      return "sleep 4000";
    }

    @Override
    boolean actsLast() {
      return true;
    }

    @Override
    Times expired(CrashPoint point) {
      // Also at the victim, where it was held for longer than the lease.
      return Times.ONCE_OR_TWICE;
    }
  },

  /** A worker that was called leaves it to somebody who has the token. */
  DEFER("extend") {
    @Override
    String work(CrashRound round) {
      return "defer " + round.file(this);
    }

    @Override
    void again(CrashRound round) throws IOException {
      Waiting.until("the worker has left it to others", () -> Files.exists(round.file(this)));
      Http.Answer answer =
          Puller.tell(round.survivor(), Files.readString(round.file(this)), "ack", "");
      assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    }

    @Override
    Times expired(CrashPoint point) {
      // Also at the victim, where it was held for longer than the lease.
      return Times.AT_MOST_TWICE;
    }

    @Override
    Times failed(CrashPoint point) {
      // The worker itself asks for the time, too, and fails where it hears that the lease is lost.
      return Times.AT_MOST_ONCE;
    }
  },

  /** Somebody who has taken it has done it. */
  FINISH("settle", "done", Said.DONE),

  /** Somebody who has taken it says that it failed. */
  NACK("settle", "failed", Said.FAILED) {
    @Override
    Times failed(CrashPoint point) {
      return Times.ONCE;
    }
  },

  /** The same, and when the victim is back, somebody else has it. */
  OVERTAKEN("settle", "failed") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.take(this, round.victim(), "2s");
      says(round, Said.FAILED);
    }

    @Override
    void again(CrashRound round) throws IOException {
      round.take(this, round.survivor(), "1m");
    }

    @Override
    boolean waitsForTheVictim() {
      return true;
    }

    @Override
    void afterwards(CrashRound round) throws IOException {
      // It is that one's still, whatever came late.
      assertThat(round.tell(this, round.survivor(), "extend", "{\"timeToRun\":\"1m\"}"))
          .isEqualTo(200);
      round.puller().end(round.taken(this), Execution.Ending.DONE);
      assertThat(round.tell(this, round.survivor(), "ack", "")).isEqualTo(200);
    }

    @Override
    Times expired(CrashPoint point) {
      return onceIf(point == CrashPoint.BEFORE);
    }

    @Override
    Times failed(CrashPoint point) {
      return onceIf(point != CrashPoint.BEFORE);
    }
  },

  /** Somebody who has taken it says that it never will. */
  REFUSE("settle", "rejected", Said.REFUSED) {
    @Override
    String state() {
      return "dead";
    }
  },

  /** Somebody who has taken it gives it back untried. */
  RELEASE("settle", "released") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
      round.takeOnly(this, round.victim(), "1m");
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.tell(this, round.victim(), "release", "");
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.tell(this, round.survivor(), "release", ""))
          .isEqualTo(round.point() == CrashPoint.BEFORE ? 200 : 409);
    }
  },

  /** Somebody who has taken it needs more time. */
  EXTEND("extend") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
      round.take(this, round.victim(), "1m");
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.tell(this, round.victim(), "extend", "{\"timeToRun\":\"1m\"}");
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.tell(this, round.survivor(), "extend", "{\"timeToRun\":\"1m\"}"))
          .isEqualTo(200);
      round.puller().end(round.taken(this), Execution.Ending.DONE);
      assertThat(round.tell(this, round.survivor(), "ack", "")).isEqualTo(200);
    }
  },

  /** Somebody who has taken it is not heard of any more. */
  EXPIRE("expire") {
    @Override
    List<String> marks(CrashRound round) {
      return List.of(round.queueMark(this));
    }

    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      for (Pulled job : round.puller().pull(round.victim(), List.of(type()), "1s")) {
        var unused = round.puller().begin(job);
      }
    }

    @Override
    Times expired(CrashPoint point) {
      return Times.ONCE;
    }
  },

  CANCEL("cancel") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.submitter(this).cancel(round.victim(), round.id(this));
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.submitter(this).cancel(round.survivor(), round.id(this))).isTrue();
    }

    @Override
    String state() {
      return "cancelled";
    }
  },

  /** It gets another due time. */
  MOVE("revise") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 3_600_000);
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.submitter(this).move(round.victim(), round.id(this), round.began());
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.submitter(this).move(round.survivor(), round.id(this), round.began()))
          .isTrue();
    }
  },

  /** It gets other content. */
  CHANGE("revise") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      change(round, round.victim());
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(change(round, round.survivor())).isEqualTo(200);
    }

    private int change(CrashRound round, JavaProcess at) throws IOException {
      String params = "{\"params\":\"" + CrashRound.CHANGED + "\"}";
      return Http.patch(round.address(this, at), params).status();
    }
  },

  /** A dead letter gets a new life. */
  REQUEUE("requeue") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.bury(this);
    }

    @Override
    void act(CrashRound round) throws IOException {
      round.submitter(this).requeue(round.victim(), round.id(this));
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(round.submitter(this).requeue(round.survivor(), round.id(this)).status())
          .isEqualTo(round.point() == CrashPoint.BEFORE ? 200 : 409);
    }
  },

  /** A dead letter is removed for good. */
  PURGE("purge") {
    @Override
    void prepare(CrashRound round) throws IOException {
      round.bury(this);
    }

    @Override
    void act(CrashRound round) throws IOException {
      purge(round, round.victim());
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(purge(round, round.survivor())).isEqualTo(200);
    }

    private int purge(CrashRound round, JavaProcess at) throws IOException {
      String jobs =
          "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskIds\":[\"%s\"]}"
              .formatted(round.application(), type(), round.id(this));
      return Http.post(at.url() + "/api/v1/jobs:purge", jobs).status();
    }

    @Override
    String state() {
      return "";
    }
  },

  /** Its queue is held, and let go when all is whole again. */
  PAUSE("pause") {
    @Override
    List<String> marks(CrashRound round) {
      return List.of(round.queueMark(this));
    }

    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      Http.post(round.queue(this, round.victim()) + "/pause", "");
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(Http.post(round.queue(this, round.survivor()) + "/pause", "").status())
          .isEqualTo(200);
    }

    @Override
    boolean waitsForTheVictim() {
      return true;
    }

    @Override
    void afterwards(CrashRound round) throws IOException {
      String queue = round.queue(this, round.survivor());
      assertThat(Http.get(queue).json().get("pausedSince").isNull()).isFalse();
      assertThat(Http.post(queue + "/resume", "").status()).isEqualTo(200);
    }
  },

  /** Its queue is bounded. */
  LIMIT("limit") {
    @Override
    List<String> marks(CrashRound round) {
      return List.of(round.queueMark(this));
    }

    @Override
    void prepare(CrashRound round) throws IOException {
      round.submit(this, round.victim(), 0);
    }

    @Override
    void act(CrashRound round) throws IOException {
      limit(round, round.victim());
    }

    @Override
    void again(CrashRound round) throws IOException {
      assertThat(limit(round, round.survivor())).isEqualTo(200);
    }

    private int limit(CrashRound round, JavaProcess at) throws IOException {
      String limits = "{\"concurrency\":" + (1 + round.number()) + "}";
      return Http.put(round.queue(this, at) + "/limits", limits).status();
    }

    @Override
    void afterwards(CrashRound round) throws IOException {
      assertThat(
              Http.get(round.queue(this, round.survivor()))
                  .json()
                  .get("limits")
                  .get("concurrency")
                  .intValue())
          .isEqualTo(1 + round.number());
    }
  };

  /** How often something happens. */
  enum Times {
    NEVER,
    AT_MOST_ONCE,
    AT_MOST_TWICE,
    ONCE,
    ONCE_OR_TWICE;

    int atLeast() {
      return this == ONCE || this == ONCE_OR_TWICE ? 1 : 0;
    }

    int atMost() {
      return switch (this) {
        case NEVER -> 0;
        case AT_MOST_ONCE, ONCE -> 1;
        case AT_MOST_TWICE, ONCE_OR_TWICE -> 2;
      };
    }
  }

  /** What somebody who has taken a job says of it. */
  private enum Said {
    DONE("ack", "", Execution.Ending.DONE),
    FAILED("nack", "{\"delay\":0}", Execution.Ending.FAILED),
    REFUSED("reject", "", Execution.Ending.FAILED);

    private final String call;
    private final String body;
    private final Execution.Ending ending;

    Said(String call, String body, Execution.Ending ending) {
      this.call = call;
      this.body = body;
      this.ending = ending;
    }

    int statusAgain(CrashPoint point) {
      // That it is done counts whenever it comes.
      return point == CrashPoint.BEFORE || this == DONE ? 200 : 409;
    }
  }

  private final String script;
  private final String op;
  private final @Nullable Said said;

  CrashCase(String script) {
    this(script, "");
  }

  CrashCase(String script, String op) {
    this(script, op, null);
  }

  CrashCase(String script, String op, @Nullable Said said) {
    this.script = script;
    this.op = op;
    this.said = said;
  }

  static List<String> types(boolean pushed) {
    return Arrays.stream(values())
        .filter(each -> each.isPushed() == pushed)
        .map(CrashCase::type)
        .toList();
  }

  String script() {
    return script;
  }

  String type() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether a scheduler calls a worker; else somebody fetches the job. */
  boolean isPushed() {
    return switch (this) {
      case CLAIM, ACK, FAIL, REJECT, HEARTBEAT, DEFER -> true;
      default -> false;
    };
  }

  /** By what the call is known, besides its script. */
  List<String> marks(CrashRound round) {
    List<String> marks = new ArrayList<>(List.of(CrashRound.mark(round.id(this))));
    if (!op.isEmpty()) {
      marks.add(CrashRound.mark(op));
    }
    return marks;
  }

  /** By what its answer is known. */
  String answerMark(CrashRound round) {
    return "";
  }

  /** What a worker that is called shall do. */
  String work(CrashRound round) {
    return "pulled";
  }

  /** What comes before; both schedulers are there. */
  void prepare(CrashRound round) throws IOException {
    if (said != null) {
      round.submit(this, round.victim(), 0);
      round.take(this, round.victim(), "1m");
    }
  }

  /** Makes the victim call the script; may have no answer. */
  void act(CrashRound round) throws IOException {
    if (said != null) {
      says(round, said);
    } else {
      round.submit(this, round.victim(), 0);
    }
  }

  void says(CrashRound round, Said what) throws IOException {
    round.puller().end(round.taken(this), what.ending);
    round.tell(this, round.victim(), what.call, what.body);
  }

  /** Whether it is held last: it disturbs the others, or cannot wait for them. */
  boolean actsLast() {
    return false;
  }

  /** What whoever got no answer does next: the same at the survivor. */
  void again(CrashRound round) throws IOException {
    if (said != null) {
      assertThat(round.tell(this, round.survivor(), said.call, said.body))
          .isEqualTo(said.statusAgain(round.point()));
    }
  }

  /** Whether its job cannot end before the victim is back. */
  boolean waitsForTheVictim() {
    return false;
  }

  /** What is left when the victim is back. */
  void afterwards(CrashRound round) throws IOException {}

  /** How often its job's lease runs out. */
  Times expired(CrashPoint point) {
    return Times.NEVER;
  }

  /** How often Redis hears that an attempt of its job failed. */
  Times failed(CrashPoint point) {
    return Times.NEVER;
  }

  /** Where its job ends; empty for nowhere. */
  String state() {
    return "finished";
  }

  /** Whether its job ends without having been done, and was not cancelled. */
  boolean givesUp() {
    return state().isEmpty() || state().equals("dead");
  }

  private static Times ofTaken(CrashPoint point) {
    return switch (point) {
      case BEFORE -> Times.NEVER;
      case BETWEEN -> Times.ONCE;
      case BEHIND -> Times.AT_MOST_ONCE;
    };
  }

  private static Times onceIf(boolean condition) {
    return condition ? Times.ONCE : Times.NEVER;
  }
}
