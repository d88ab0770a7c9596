package io.punctual.systemtest.linearizability;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The search finds an order where there is one, and where there is none it says so. */
class CheckerTest {

  private static final int HISTORIES = 4_000;
  private static final int MOST_OPERATIONS = 6;

  /** Tries all orders, one by one. */
  private static boolean hasOrder(
      Model<JobModel.Life> model, JobModel.Life state, List<Operation> left, long now) {
    if (left.stream().allMatch(Operation::open)) {
      return true;
    }
    for (Operation next : left) {
      List<Operation> others = new ArrayList<>(left);
      others.remove(next);
      if (others.stream().anyMatch(other -> other.answered() < next.invoked())) {
        continue;
      }
      for (Model.Step<JobModel.Life> step :
          model.steps(state, next, Math.max(now, next.invoked()))) {
        long when = Math.max(now, step.notBefore());
        if (when <= next.answered() && hasOrder(model, step.state(), others, when)) {
          return true;
        }
      }
    }
    return false;
  }

  private static List<Operation> randomHistory(Random random) {
    Outcome[] outcomes = {
      Outcome.CREATED,
      Outcome.REPLACED,
      Outcome.CONFLICT,
      Outcome.CANCELLED,
      Outcome.RESCHEDULED,
      Outcome.WAITING,
      Outcome.NOT_FOUND
    };
    List<Operation> history = new ArrayList<>();
    int count = 2 + random.nextInt(MOST_OPERATIONS - 1);
    for (int i = 0; i < count; i++) {
      long invoked = 1L + random.nextInt(10);
      long answered = invoked + random.nextInt(6);
      Action action =
          switch (random.nextInt(4)) {
            case 0 -> Story.replace("content-" + i, 90_000 + i);
            case 1 -> Story.cancel();
            case 2 -> Story.reschedule(90_000 + i);
            default -> Story.find();
          };
      Answer answer = Answer.of(outcomes[random.nextInt(outcomes.length)]);
      if (answer.outcome() == Outcome.WAITING) {
        answer = answer.content("content-" + random.nextInt(count));
      }
      boolean open = random.nextInt(5) == 0;
      history.add(
          new Operation(
              "client",
              "a",
              action,
              open ? null : answer,
              invoked,
              open ? Operation.NEVER : answered));
    }
    return history;
  }

  /** One that could have been: each call is answered by the model, at an instant of its time. */
  private static List<Operation> honestHistory(Random random) {
    List<Operation> calls = randomHistory(random);
    calls.sort(java.util.Comparator.comparingLong(Operation::invoked));
    List<Operation> history = new ArrayList<>();
    JobModel model = new JobModel(calls, Story.SOUND);
    JobModel.Life life = model.initial();
    for (Operation call : calls) {
      List<Operation> answered = new ArrayList<>();
      List<JobModel.Life> next = new ArrayList<>();
      for (Outcome outcome : Outcome.values()) {
        Operation told =
            new Operation(
                "client",
                "a",
                call.action(),
                Answer.of(outcome),
                call.invoked(),
                call.invoked() + random.nextInt(6));
        for (Model.Step<JobModel.Life> step : model.steps(life, told, call.invoked())) {
          answered.add(told);
          next.add(step.state());
        }
      }
      int chosen = random.nextInt(answered.size());
      history.add(random.nextInt(5) == 0 ? answered.get(chosen).opened() : answered.get(chosen));
      life = next.get(chosen);
    }
    return history;
  }

  @Test
  void itSaysWhatTryingAllOrdersSays() {
    int linearizable = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      List<Operation> history = randomHistory(new Random(seed));
      JobModel model = new JobModel(history, Story.SOUND);
      boolean expected = hasOrder(model, model.initial(), history, 0);
      assertThat(Checker.check(model, history, Checker.MOST_STEPS).linearizable())
          .as("seed %d: %s", seed, history)
          .isEqualTo(expected);
      linearizable += expected ? 1 : 0;
    }
    // Both occur.
    assertThat(linearizable).isBetween(HISTORIES / 100, HISTORIES * 99 / 100);
  }

  @Test
  void anHonestHistoryIsLinearizable() {
    for (int seed = 0; seed < HISTORIES; seed++) {
      List<Operation> history = honestHistory(new Random(seed));
      assertThat(Histories.linearizable(history, Story.SOUND))
          .as("seed %d: %s", seed, history)
          .isTrue();
    }
  }

  @Test
  void theOrderThatItFindsIsShown() {
    Story story = new Story().at(1).call(Story.submit("one", 9000), Outcome.CREATED);
    story.call(Story.find(), Outcome.WAITING);
    JobModel model = new JobModel(story.operations(), Story.SOUND);
    assertThat(Checker.check(model, story.operations(), Checker.MOST_STEPS).order())
        .isEqualTo(story.operations());
  }
}
