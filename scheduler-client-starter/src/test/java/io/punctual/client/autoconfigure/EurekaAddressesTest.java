package io.punctual.client.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EurekaAddressesTest {

  @ParameterizedTest
  @CsvSource({
    "http://localhost:8761/eureka/, http://localhost:8761/eureka/",
    "http://punctual:s3cret@a:8761/eureka/, http://a:8761/eureka/",
    "'http://u:s3@cr/et@a/eureka/,https://u:s3cret@b/eureka/', 'http://a/eureka/,https://b/eureka/'",
    "'http://a/eureka/, http://u:s3cret@b/', 'http://a/eureka/, http://b/'",
    "not set, not set",
  })
  void addressesAreShownWithoutPasswords(String addresses, String shown) {
    assertThat(EurekaAddresses.withoutPasswords(addresses)).isEqualTo(shown);
  }
}
