package io.punctual.core.calendar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CalendarsTest {

  private static final LocalDate HOLIDAY = LocalDate.parse("2027-05-01");

  private final AtomicLong ticks = new AtomicLong();
  private final Texts texts = new Texts();
  private final Calendars calendars = new Calendars(texts, ticks::get);

  private static final class Texts implements CalendarStore {

    private final Map<String, String> all = new HashMap<>();
    private boolean away;

    @Override
    public Map<String, String> all() {
      if (away) {
        throw new StoreException(StoreException.Kind.UNREACHABLE, "away");
      }
      return Map.copyOf(all);
    }

    @Override
    public void put(String name, String text) {
      all.put(name, text);
    }

    @Override
    public boolean delete(String name) {
      return all.remove(name) != null;
    }
  }

  @Test
  void whileTheStoreIsAwayTheDatesAreThoseThatWereReadLast() {
    calendars.put("de", List.of(HOLIDAY));
    assertThat(calendars.closed("de")).containsExactly(HOLIDAY);

    texts.away = true;
    ticks.addAndGet(Duration.ofMinutes(1).toNanos());
    assertThat(calendars.closed("de")).containsExactly(HOLIDAY);
    assertThat(calendars.closed("fr")).isEmpty();

    texts.away = false;
    texts.delete("de");
    assertThat(calendars.closed("de")).isEmpty();
  }

  @Test
  void whatWasNeverReadIsNotKnown() {
    texts.away = true;
    assertThatThrownBy(() -> calendars.closed("de")).isInstanceOf(StoreException.class);
  }
}
