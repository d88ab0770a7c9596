package io.punctual.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Mon-Fri 09:00-20:00 | Mon-Fri 09:00-20:00",
        "mon,TUE,wed 09:00-20:00;  Sat 10:00-14:00 | Mon-Wed 09:00-20:00; Sat 10:00-14:00",
        "Sat,Sun 22:00-02:00 | Sat,Sun 22:00-02:00",
        "Sat-Mon 22:00-24:00 | Mon,Sat,Sun 22:00-24:00",
        "22:00-00:00 | 22:00-24:00",
        "00:00-24:00 | 00:00-24:00",
        "Mon-Sun 08:00-09:00 | 08:00-09:00"
      })
  void aTextIsReadAndWrittenInOneForm(String text, String form) {
    assertThat(Windows.parse(text)).hasToString(form);
    assertThat(Windows.parse(form)).isEqualTo(Windows.parse(text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "09:00-09:00 | has no minute",
        "Mon-Fri 9:00-20:00 | is none; write for instance Mon-Fri 09:00-20:00",
        "Mon-Fri | is none",
        "'' | is none",
        "Mon 09:00-20:00; | is none",
        "Foo 09:00-20:00 | none of Mon, Tue",
        "Mon-Tue-Wed 09:00-20:00 | has days 'Mon-Tue-Wed'",
        "Mon 25:00-26:00 | no clock shows",
        "Mon 24:00-25:00 | no clock shows"
      })
  void whatIsNoWindowIsRefusedWithWhatIsRight(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Windows.parse(text))
        .withMessageStartingWith("window ")
        .withMessageContaining(message);
  }
}
