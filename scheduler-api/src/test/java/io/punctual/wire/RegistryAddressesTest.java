package io.punctual.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryAddressesTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "http://punctual:secret@host:8761/eureka/ http://host:8761/eureka/ punctual:secret",
        "https://punctual:secret@host/eureka/ https://host/eureka/ punctual:secret",
        "HTTP://punctual:secret@Host http://host/eureka/apps punctual:secret",
        "http://punctual:secret@host:8761/eureka http://host:8761/eureka/apps/A?x=y punctual:secret",
        "http://a%3Ab:s%2Fe%2cr%40e@host:8761/ http://host:8761/x a:b:s/e,r@e",
        "http://user:sec:ret@host/ http://host/ user:sec:ret",
        "http://user:sec@ret@host/ http://host/ user:sec@ret",
        "http://user:100%+1@host/ http://host/ user:100%+1",
        "http://user@host/ http://host/ user:",
        "http://user:secret@[::1]:8761/eureka/ http://[::1]:8761/eureka/ user:secret",
        "http://user:secret@my_registry:8761/eureka/ http://my_registry:8761/eureka/ user:secret",
      })
  void userAndPasswordBecomeAHeader(String address, URI request, String user) {
    RegistryAddresses addresses = RegistryAddresses.of(address);

    assertThat(addresses.toString()).doesNotContain("@", "secret", "user", "punctual");
    assertThat(addresses.authorization(request))
        .hasValue(
            "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void eachRegistryGetsItsOwnPassword() {
    RegistryAddresses addresses =
        RegistryAddresses.of(
            "http://a:1@one:8761/eureka/, http://b:2@two:8761/eureka/,http://three:8761/eureka/");

    assertThat(addresses)
        .hasToString("http://one:8761/eureka/, http://two:8761/eureka/,http://three:8761/eureka/");
    assertThat(addresses.authorization(URI.create("http://one:8761/eureka/apps")))
        .isPresent()
        .isNotEqualTo(addresses.authorization(URI.create("http://two:8761/eureka/apps")));
    for (String other :
        new String[] {
          "http://three:8761/eureka/", "https://one:8761/", "http://one/", "http://one:87610/"
        }) {
      assertThat(addresses.authorization(URI.create(other))).as(other).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"http://localhost:8761/eureka/", "", "none", "http://a/,http://b:1/eureka"})
  void addressesWithoutAUserStayAsTheyAre(String address) {
    assertThat(RegistryAddresses.of(address)).hasToString(address);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://punctual:sec/ret@host:8761/eureka/",
        "http://punctual:sec?ret@host:8761/eureka/",
        "http://punctual:sec#ret@host:8761/eureka/",
        "http://punctual:sec,ret@host:8761/eureka/",
        "punctual:secret@host:8761/eureka/",
      })
  void aPasswordThatEndsTheAddressIsRefusedAndNotRepeated(String address) {
    assertThatThrownBy(() -> RegistryAddresses.of(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("eureka.client.service-url")
        .hasMessageContaining("percent-encoded")
        .message()
        .doesNotContain("sec", "ret@", "host:8761");
  }
}
