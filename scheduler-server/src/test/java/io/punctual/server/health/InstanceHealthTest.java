package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.InstanceAttempts;
import io.punctual.server.probe.WorkerReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstanceHealthTest {

  private static WorkerReport report(
      String application, String instance, int failed, int ended, @Nullable String release) {
    return new WorkerReport(
        application,
        instance,
        "eureka",
        "http://a:1/callback",
        List.of("job"),
        "batch",
        release,
        10,
        0,
        new InstanceAttempts(ended - failed, failed, 1, 1L),
        null,
        null,
        null,
        null);
  }

  /** Each as failed/ended; the name of an instance is its place. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0/30 29/30            | 1",
        "29/30                 | ''",
        "0/30 1/19             | ''",
        "0/30 2/20             | 1",
        "0/30 19/19            | ''",
        "0/100 9/100           | ''",
        "0/100 10/100          | 1",
        "10/100 10/100 49/100  | ''",
        "10/100 10/100 50/100  | 2",
        "0/30 0/30 30/30 30/30 | 2 3",
        "30/30 30/30           | ''",
        "1/1 1/1 0/30 30/30    | 3",
      })
  void oneThatFailsFarMoreOftenThanTheOthersIsFound(String instances, String outliers) {
    List<WorkerReport> reports = new ArrayList<>();
    for (String counts : instances.strip().split(" ", -1)) {
      String[] parts = counts.split("/", -1);
      reports.add(
          report(
              "shop",
              Integer.toString(reports.size()),
              Integer.parseInt(parts[0]),
              Integer.parseInt(parts[1]),
              null));
    }
    // Another application has a median of its own.
    reports.add(report("bank", "0", 30, 30, null));
    assertThat(
            InstanceHealth.outliers(reports).stream()
                .map(outlier -> outlier.instance().instance())
                .sorted())
        .containsExactly(outliers.isEmpty() ? new String[0] : outliers.split(" ", -1));
  }

  @ParameterizedTest
  @CsvSource({"2, 20, true", "1, 20, false", "19, 19, false", "100, 1000, true"})
  void anInstanceFailsWhateverTheOthersDo(int failed, int ended, boolean failing) {
    assertThat(InstanceHealth.isFailing(report("shop", "a", failed, ended, null)))
        .isEqualTo(failing);
  }

  @ParameterizedTest
  @CsvSource({
    "1 1 1, ''",
    "1 1 2, c",
    "1 2 2, ''",
    "1 1 -, ''",
  })
  void aReleaseIsToBlameIfAllItsInstancesFailAndOthersDoNot(String releases, String bad) {
    String[] of = releases.replace("-", "").split(" ", -1);
    List<WorkerReport> reports =
        List.of(
            report("shop", "a", 0, 100, of[0]),
            report("shop", "b", 1, 100, of[1]),
            report("shop", "c", 50, 100, of[2].isEmpty() ? null : of[2]),
            report("shop", "few", 0, 3, "2"));

    assertThat(InstanceHealth.instancesOfBadReleases(reports))
        .isEqualTo(bad.isEmpty() ? Set.of() : Set.of("shop/" + bad));
  }

  @Test
  void theFindingNamesTheInstanceItsReleaseAndWhatToDo() {
    Finding finding =
        InstanceHealth.outliers(
                List.of(
                    report("shop", "a", 1, 100, "2.13.0"), report("shop", "b", 19, 20, "2.14.0")))
            .get(0)
            .finding();
    assertThat(finding.text())
        .contains("b, release 2.14.0: 95 % of 20 attempts", "of shop it is 1 % at most");
    assertThat(finding.urgent()).isFalse();
    assertThat(finding.remedy()).contains("take its release back");
  }
}
