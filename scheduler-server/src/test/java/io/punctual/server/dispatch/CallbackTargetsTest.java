package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallbackTargetsTest {

  private static final CallbackTargets DEFAULT = new CallbackTargets(List.of(), false);
  private static final CallbackTargets ANY_NETWORK =
      new CallbackTargets(List.of("0.0.0.0/0", "::/0"), true);

  private static URI at(String host) {
    return URI.create("http://" + host + ":8080/punctual/callback");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.254.169.254",
        "169.254.0.1",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "[fd00:ec2::23]",
        "[fd00:42::42]",
        "[64:ff9b:1::a9fe:a9fe]",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
        "[ff02::1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b::7f00:1]",
        "[2002:a9fe:a9fe::1]",
        "2852039166"
      })
  void whatTellsSecretsIsNeverCalled(String host) {
    assertThat(DEFAULT.refusal(at(host))).isNotNull();
    assertThat(ANY_NETWORK.refusal(at(host))).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "127.9.9.9", "[::1]", "localhost", "[::ffff:127.0.0.1]"})
  void thisMachineIsCalledWhereThatIsWanted(String host) {
    assertThat(DEFAULT.refusal(at(host))).contains("punctual.dispatch.allowed-networks");
    assertThat(new CallbackTargets(List.of(), true).refusal(at(host))).isNull();
    assertThat(new CallbackTargets(List.of("127.0.0.0/8", "::1"), false).refusal(at(host)))
        .isNull();
    assertThat(new CallbackTargets(List.of("10.0.0.0/8"), true).refusal(at(host))).isNotNull();
  }

  @Test
  void othersAreCalledUnlessNetworksAreGiven() {
    CallbackTargets own = new CallbackTargets(List.of("10.0.0.0/8", "fd12::/16"), false);
    for (String host : List.of("10.1.2.3", "[fd12::7]")) {
      assertThat(DEFAULT.refusal(at(host))).isNull();
      assertThat(own.refusal(at(host))).isNull();
    }
    for (String host : List.of("11.1.2.3", "[fd13::7]", "203.0.113.9", "[64:ff9b::b01:203]")) {
      assertThat(DEFAULT.refusal(at(host))).isNull();
      assertThat(own.refusal(at(host))).contains("is not called");
    }
    assertThat(DEFAULT.refusal(at("no-such-host.invalid"))).contains("no address is known");
    assertThat(DEFAULT.refusal(URI.create("http://a_b:1/x"))).contains("no host");
  }

  @Test
  void whatIsNoNetworkIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new CallbackTargets(List.of("10.0.0.0/99"), false))
        .withMessageContaining("punctual.dispatch.allowed-networks", "10.0.0.0/99");
  }
}
