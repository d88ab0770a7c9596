package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {

  @ParameterizedTest
  @CsvSource({
    "remindr-service, reminder-service",
    "order.clsoe, order.close",
    "ORDER.CLOSE, order.close",
    "Reminder_Service, reminder-service",
    "a, b",
    "billing,",
    "order.close.now.please,",
    "order.close,"
  })
  void aNameThatDiffersInFewLettersIsMeant(String wanted, @Nullable String nearest) {
    assertThat(NearestName.of(wanted, List.of("b", "order.close", "reminder-service")))
        .isEqualTo(nearest);
  }
}
