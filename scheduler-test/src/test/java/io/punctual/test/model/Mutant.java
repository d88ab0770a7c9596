package io.punctual.test.model;

import io.punctual.core.store.redis.MutantStore;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A script with one small mistake in it.
 *
 * @param text the whole file with the mistake
 */
record Mutant(String file, String change, String text) {

  private static final List<String> INCLUDES =
      List.of(
          "lib/job",
          "lib/failures",
          "lib/hours",
          "lib/next",
          "lib/outcome",
          "lib/tomb",
          "lib/kept",
          "lib/rank",
          "lib/waiting",
          "lib/snapshot",
          "lib/wake");

  /** A line that can go without breaking the syntax. */
  private static final Pattern STATEMENT =
      Pattern.compile(
          "^\\s*((add|remove|count|write|store|tend_tombs|add_tomb|bury_corrupt|add_tags|remove_tags"
              + "|end_cancelled|cancel_lease|behind\\.drop|put|forget|move|replace_lease|receive_lease"
              + "|renew_lease|keep|keep_job|keep_undone|forget_kept|tend_kept|proceed_lease)\\(.*\\)"
              + "|redis\\.call\\(.*\\)"
              + "|[\\w.]+(\\[[^\\]]*\\])?( ?, ?[\\w.]+)* = [^{(]*[^{(,]|[\\w.]+ = \\w+\\(.*\\))$");

  private static final String[][] SWAPS = {
    {" <= ", " < "}, {" >= ", " > "}, {" < ", " <= "}, {" > ", " >= "}, {" == ", " ~= "},
    {" ~= ", " == "}, {" + 1", " + 2"}, {" + ", " - "}, {" and ", " or "}, {"not ", ""},
    {" = 0", " = 1"}, {" = 1", " = 0"}, {"'-inf', now_text", "'-inf', '(' .. now_text"},
  };

  /** All mutants of all scripts, in a fixed order. */
  static List<Mutant> all() {
    List<Mutant> mutants = new ArrayList<>();
    List<String> files = new ArrayList<>(MutantStore.SCRIPTS);
    files.addAll(INCLUDES);
    for (String file : files) {
      String[] lines = MutantStore.shipped(file).split("\n", -1);
      for (int i = 0; i < lines.length; i++) {
        String line = lines[i];
        if (line.strip().startsWith("--")) {
          continue;
        }
        Matcher statement = STATEMENT.matcher(line);
        if (statement.matches() && !line.strip().startsWith("local ")) {
          mutants.add(mutant(file, lines, i, "dropped", ""));
        }
        for (String[] swap : SWAPS) {
          int at = line.indexOf(swap[0]);
          if (at >= 0) {
            String changed =
                line.substring(0, at) + swap[1] + line.substring(at + swap[0].length());
            mutants.add(mutant(file, lines, i, changed.strip(), changed));
          }
        }
      }
    }
    return mutants;
  }

  private static Mutant mutant(
      String file, String[] lines, int index, String change, String replacement) {
    String[] changed = lines.clone();
    changed[index] = replacement;
    return new Mutant(file, lines[index].strip() + "  ->  " + change, String.join("\n", changed));
  }

  /** Names it without its line's number, which moves with each change above it. */
  String name() {
    return file + ".lua: " + change;
  }
}
