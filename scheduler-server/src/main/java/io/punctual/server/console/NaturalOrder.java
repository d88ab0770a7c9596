package io.punctual.server.console;

import io.punctual.core.job.QueueName;
import java.util.Comparator;

/** Orders names as people do: {@code shop-2} before {@code shop-10}. */
final class NaturalOrder {

  static final Comparator<String> NAMES = NaturalOrder::compare;
  static final Comparator<QueueName> QUEUES =
      Comparator.comparing(QueueName::application, NAMES).thenComparing(QueueName::taskType, NAMES);

  private NaturalOrder() {}

  private static int compare(String one, String other) {
    int i = 0;
    int j = 0;
    while (i < one.length() && j < other.length()) {
      int order;
      if (isDigit(one, i) && isDigit(other, j)) {
        int first = i;
        int second = j;
        i = end(one, i);
        j = end(other, j);
        order = compareNumbers(one.substring(first, i), other.substring(second, j));
      } else {
        order = Character.compare(one.charAt(i++), other.charAt(j++));
      }
      if (order != 0) {
        return order;
      }
    }
    int rest = Integer.compare(one.length() - i, other.length() - j);
    // 01 is no other number than 1, but another name.
    return rest == 0 ? one.compareTo(other) : rest;
  }

  // They may have more digits than a long.
  private static int compareNumbers(String one, String other) {
    String first = one.replaceFirst("^0+", "");
    String second = other.replaceFirst("^0+", "");
    int longer = Integer.compare(first.length(), second.length());
    return longer == 0 ? first.compareTo(second) : longer;
  }

  private static boolean isDigit(String text, int at) {
    return text.charAt(at) >= '0' && text.charAt(at) <= '9';
  }

  private static int end(String text, int from) {
    int end = from;
    while (end < text.length() && isDigit(text, end)) {
      end++;
    }
    return end;
  }
}
