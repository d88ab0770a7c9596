package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfiguredUrlTest {

  @ParameterizedTest
  @CsvSource({
    "http://10.0.0.7:8081/cb, http://10.0.0.7:8081/cb",
    "http://user:secret@h:1/cb, http://***@h:1/cb",
    "http://secret@h, http://***@h",
    "http://user:sec@ret@h, http://***@h",
    "http://user:sec/ret@h, http://***@h",
    "http://user:sec?ret@h/x, http://***@h/x",
    "http://user:secret@my_host:1, http://***@my_host:1",
    "user:secret@h, ***@h",
    "user:se//cret@h:8080, ***@h:8080",
    "http:user:se//cret@h, ***@h",
    "http://h/cb?token=secret, http://h/cb?***",
    "http://h/cb#secret, http://h/cb#***"
  })
  void masksUserQueryAndFragment(String url, String masked) {
    assertThat(ConfiguredUrl.masked(URI.create(url))).isEqualTo(masked);
  }

  @ParameterizedTest
  @CsvSource({
    "ftp://h, scheme",
    "h:1, scheme",
    "/cb, scheme",
    "http:/cb, host is missing",
    "http://my_host:8081, underscore",
    "http://u:p@h, user",
    "http://u_1:p@h:x, host is missing or invalid",
    "http://u:p@my_host, underscore",
    "http://h:0, port",
    "http://h:65536, port",
    "http://h/cb?x=1, query",
    "http://h/cb#x, fragment"
  })
  void namesThePartThatIsWrong(String url, String part) {
    assertThat(ConfiguredUrl.flaw(URI.create(url))).contains(part);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://h", "HTTPS://h:8443/", "http://[::1]:8081/cb", "http://h/a%2Fb"})
  void acceptsWhatAnHttpClientCanCall(String url) {
    assertThat(ConfiguredUrl.flaw(URI.create(url))).isNull();
  }

  @Test
  void acceptsAColonWithoutAPort() {
    assertThat(ConfiguredUrl.flaw(URI.create("http://h:/cb"))).isNull();
  }
}
