package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OriginTest {

  @Test
  void aRunSaysWhenWhereAndOfWhichCommitItIs() throws Exception {
    assertThat(Origin.text(Origin.now()))
        .matches(
            "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC, commit ([0-9a-f]{7,}|\\?)( with changes)?:"
                + " \\d+ processors \\(.+\\), \\d+ GiB, .+, Java .+, Redis \\S+, load \\S+ before");
  }
}
