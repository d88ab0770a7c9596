package io.punctual.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.TaskWorker;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.wire.WorkerMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WorkersTest {

  private final TaskWorkers known = new TaskWorkers(Map.of("first", worker("first")));
  private final Workers workers = new Workers(known);
  private final List<Set<String>> told = new ArrayList<>();

  private static TaskWorker worker(String type) {
    return new TaskWorker() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public void invoke(String params) {}
    };
  }

  @Test
  void eachChangeIsToldOnceItIsMade() {
    known.onChange(() -> told.add(known.types()));
    assertThat(workers.add(worker("second"))).isTrue();
    assertThat(workers.remove("first")).isTrue();
    assertThat(workers.remove("first")).isFalse();
    assertThat(told).containsExactly(Set.of("first", "second"), Set.of("second"));
    assertThat(workers.types()).containsExactly("second");
  }

  @Test
  void whatCannotBeAddedChangesNothing() {
    known.switchOff("left");
    known.onChange(() -> told.add(known.types()));
    assertThat(workers.add(worker("left"))).isFalse();
    assertThatThrownBy(() -> workers.add(worker("first")))
        .isInstanceOf(WorkerSetupException.class)
        .hasMessageContaining("taken by two workers");
    assertThatThrownBy(() -> workers.add(worker("no name!")))
        .isInstanceOf(WorkerSetupException.class);
    assertThat(told).isEmpty();
    assertThat(workers.types()).containsExactly("first");
  }

  @Test
  void moreTypesThanSchedulersTakeAreRefused() {
    for (int i = 1; i < WorkerMetadata.MAX_TASK_TYPES; i++) {
      workers.add(worker("type-" + i));
    }
    assertThatThrownBy(() -> workers.add(worker("one-more")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'one-more' was not added");
    assertThat(workers.types()).hasSize(WorkerMetadata.MAX_TASK_TYPES);
  }
}
