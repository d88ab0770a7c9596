package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallbackAddressTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[::ffff:127.0.0.1]:28091/evil/../admin?q=",
        "127.0.0.1/latest/meta?x=",
        "127.0.0.1?x",
        "127.0.0.1#",
        "127.0.0.1:80",
        "user:pw@127.0.0.1",
        "user@worker",
        "worker:80#",
        "worker/",
        "worker\\@other",
        "[::ffff:127.0.0.1]:28091\\@x",
        "127.0.0.1%0d%0aX:y",
        "worker\nother",
        "worker other",
        "\"><script>alert(1)</script>",
        "w\u00f6rker",
        "worker\u202e",
        "",
        ".",
        "a..b",
        "-a",
        "[]",
        "[worker]",
        "[127.0.0.1]",
        "[::1",
        "::1]",
        "[[::1]]",
        "::g",
        ":::",
        ":",
        "1:2",
        "fe80::1%lo",
        "[fe80::1%25lo]",
        "2130706433",
        "0x7f000001",
        "127.1",
        "127.0x1",
        "017700000001",
        "0",
        "127.0.0.1.",
        "256.1.1.1",
        "1.2.3.4.5"
      })
  void aHostIsAHostAndNothingElse(String host) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CallbackAddress.of(false, host, 8080, "/punctual/callback"))
        .withMessageStartingWith("its host ")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n", "\u202e"));
  }

  @Test
  void aHostIsNoLongerThanNamesCanBe() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CallbackAddress.of(false, "a.".repeat(20_000), 8080, "/a"))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CallbackAddress.of(false, null, 8080, "/a"));
  }

  @ParameterizedTest
  @CsvSource({
    "worker, worker",
    "localhost, localhost",
    "worker-1.shop.svc.cluster.local, worker-1.shop.svc.cluster.local",
    "worker.example., worker.example.",
    "a1b2c3d4e5f6, a1b2c3d4e5f6",
    "3scale.example, 3scale.example",
    "0f1e2d3c4b5a, 0f1e2d3c4b5a",
    "10.1.2.3, 10.1.2.3",
    "::1, [::1]",
    "fd12::7, [fd12::7]",
    "[fd12::7], [fd12::7]",
    "[::ffff:127.0.0.1], [::ffff:127.0.0.1]"
  })
  void namesAndAddressesAreCalled(String host, String authority) {
    assertThat(CallbackAddress.of(false, host, 8080, "/a/b~c"))
        .hasToString("http://" + authority + ":8080/a/b~c");
    assertThat(CallbackAddress.of(true, host, 443, "/a"))
        .hasToString("https://" + authority + ":443/a");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 65_536})
  void aPortIsOne(int port) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CallbackAddress.of(false, "worker", port, "/a"))
        .withMessageContaining("port");
  }
}
