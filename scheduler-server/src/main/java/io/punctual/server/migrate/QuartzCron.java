package io.punctual.server.migrate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Translates cron expressions of Quartz, which XXL-JOB has too, to those of Punctual. The days of
 * the week have other numbers there, ranges may go over the end, and a field for the year may
 * follow.
 */
final class QuartzCron {

  private static final List<String> MONTHS =
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
  private static final List<String> DAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");
  private static final Pattern PART = Pattern.compile("(\\*|\\?|\\d+|)(?:-(\\d+))?(?:/(\\d+))?");
  private static final Pattern LAST_DAY = Pattern.compile("(\\d)L");
  private static final Pattern NTH_DAY = Pattern.compile("(\\d)#(\\d)");
  private static final Pattern OF_MONTH = Pattern.compile("L|LW|L-\\d+|(\\d+)W");
  // The weekday nearest to it is in its month, also in a February that ends on a Sunday.
  private static final int LAST_SURE_DAY = 27;

  private QuartzCron() {}

  /** A field. */
  private enum Field {
    SECOND(0, 59),
    MINUTE(0, 59),
    HOUR(0, 23),
    DAY_OF_MONTH(1, 31),
    MONTH(1, 12),
    DAY_OF_WEEK(1, 7);

    private final int min;
    private final int max;

    Field(int min, int max) {
      this.min = min;
      this.max = max;
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /**
   * Translates an expression.
   *
   * @throws UnreadableException if Punctual has nothing like it
   */
  static String translated(String expression) throws UnreadableException {
    String[] fields = expression.strip().toUpperCase(Locale.ROOT).split("\\s+", -1);
    if (fields.length != 6 && fields.length != 7) {
      throw flaw(expression, "it has " + fields.length + " fields, not 6 or 7");
    }
    if (fields.length == 7 && !fields[6].equals("*") && !fields[6].equals("?")) {
      throw flaw(
          expression,
          "it names years; make the schedule in Punctual, with from and until, and end this one");
    }
    List<String> translated = new ArrayList<>();
    Field[] kinds = Field.values();
    for (int i = 0; i < kinds.length; i++) {
      translated.add(field(expression, kinds[i], fields[i]));
    }
    return String.join(" ", translated);
  }

  private static UnreadableException flaw(String expression, String why) {
    return new UnreadableException("has the cron expression '" + expression + "': " + why);
  }

  private static String field(String expression, Field field, String text)
      throws UnreadableException {
    if (text.equals("*") || text.equals("?")) {
      return "*";
    }
    TreeSet<Integer> values = new TreeSet<>();
    List<String> others = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      String numbers = numbers(field, part);
      String special = special(expression, field, numbers);
      if (special.isEmpty()) {
        values.addAll(values(expression, field, numbers));
      } else {
        others.add(special);
      }
    }
    if (values.size() == field.max - field.min + 1) {
      return "*";
    }
    return written(field, values, others);
  }

  private static String numbers(Field field, String part) {
    List<String> names =
        switch (field) {
          case MONTH -> MONTHS;
          case DAY_OF_WEEK -> DAYS;
          default -> List.of();
        };
    String numbers = part;
    for (int i = 0; i < names.size(); i++) {
      numbers = numbers.replace(names.get(i), Integer.toString(i + 1));
    }
    return numbers;
  }

  /** What is not a set of numbers; empty if it is one. */
  private static String special(String expression, Field field, String part)
      throws UnreadableException {
    if (field == Field.DAY_OF_MONTH && OF_MONTH.matcher(part).matches()) {
      Matcher weekday = OF_MONTH.matcher(part);
      if (weekday.matches()
          && weekday.group(1) != null
          && number(weekday.group(1)) > LAST_SURE_DAY) {
        throw flaw(expression, "not each month has a weekday near day " + weekday.group(1));
      }
      return part;
    }
    if (field != Field.DAY_OF_WEEK) {
      return "";
    }
    if (part.equals("L")) {
      return "SAT";
    }
    Matcher last = LAST_DAY.matcher(part);
    if (last.matches()) {
      return day(expression, last.group(1)) + "L";
    }
    Matcher nth = NTH_DAY.matcher(part);
    return nth.matches() ? day(expression, nth.group(1)) + "#" + nth.group(2) : "";
  }

  private static String day(String expression, String number) throws UnreadableException {
    int day = number(number);
    if (day < 1 || day > DAYS.size()) {
      throw flaw(expression, "there is no day of the week " + number);
    }
    return DAYS.get(day - 1);
  }

  private static SortedSet<Integer> values(String expression, Field field, String part)
      throws UnreadableException {
    Matcher matcher = PART.matcher(part);
    if (!matcher.matches() || part.isEmpty()) {
      throw flaw(expression, "its " + field.word() + " '" + part + "' is not known");
    }
    String first = matcher.group(1);
    boolean all = first.equals("*") || first.equals("?") || first.isEmpty();
    int begin = all ? field.min : number(first);
    int end;
    if (matcher.group(2) != null) {
      end = number(matcher.group(2));
    } else {
      end = all || matcher.group(3) != null ? field.max : begin;
    }
    int step = matcher.group(3) == null ? 1 : number(matcher.group(3));
    int size = field.max - field.min + 1;
    if (begin < field.min || begin > field.max || end < field.min || end > field.max || step < 1) {
      throw flaw(expression, "its " + field.word() + " '" + part + "' is out of range");
    }
    TreeSet<Integer> values = new TreeSet<>();
    for (int i = begin; i <= (end < begin ? end + size : end); i += step) {
      values.add((i - field.min) % size + field.min);
    }
    return values;
  }

  private static int number(String digits) {
    return digits.length() > 3 ? Integer.MAX_VALUE / 2 : Integer.parseInt(digits);
  }

  private static String written(Field field, SortedSet<Integer> values, List<String> others) {
    List<String> parts = new ArrayList<>();
    if (field == Field.DAY_OF_WEEK) {
      values.forEach(day -> parts.add(DAYS.get(day - 1)));
    } else if (!values.isEmpty()) {
      parts.add(numbers(field, values));
    }
    parts.addAll(others);
    return String.join(",", parts);
  }

  /** As short as it gets: an expression has at most 200 characters. */
  private static String numbers(Field field, SortedSet<Integer> values) {
    int first = values.first();
    for (int step = 1; step <= field.max && values.size() > 2; step++) {
      TreeSet<Integer> upTo = new TreeSet<>();
      for (int i = first; i <= values.last(); i += step) {
        upTo.add(i);
      }
      if (upTo.equals(values)) {
        String range = first + "-" + values.last();
        return step == 1 ? range : range + "/" + step;
      }
    }
    List<String> ranges = new ArrayList<>();
    for (int begin : values) {
      if (!values.contains(begin - 1)) {
        int end = begin;
        while (values.contains(end + 1)) {
          end++;
        }
        ranges.add(begin == end ? Integer.toString(begin) : begin + "-" + end);
      }
    }
    return String.join(",", ranges);
  }
}
