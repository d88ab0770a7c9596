package io.punctual.benchmark.contest;

import java.util.ArrayList;
import java.util.List;

/** What became of the jobs of all measured rounds. */
public final class Accounts {

  private int missing;
  private int twice;
  private int early;

  /** Adds the jobs of a round. */
  public void add(Recorder recorder) {
    missing += recorder.missing();
    twice += recorder.twice();
    early += recorder.early();
  }

  /** What to know about the round, and what was not clean. */
  public String text(String first) {
    List<String> words = new ArrayList<>();
    words.add(first);
    words.add(missing == 0 ? "" : missing + " MISSING");
    words.add(twice == 0 ? "" : twice + " TWICE");
    words.add(early == 0 ? "" : early + " EARLY");
    return String.join(", ", words.stream().filter(word -> !word.isEmpty()).toList());
  }
}
