package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallbackTargetsTest {

  private static final CallbackTargets DEFAULT = new CallbackTargets(List.of(), false);
  private static final CallbackTargets ANY_NETWORK =
      new CallbackTargets(List.of("0.0.0.0/0", "::/0"), true);

  /** Why the host must not be called; null if it may. */
  private static @Nullable String refusal(CallbackTargets targets, String host) {
    try {
      assertThat(targets.resolve(host)).isNotEmpty();
      return null;
    } catch (AddressNotAllowedException e) {
      return e.reason();
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
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
    assertThat(refusal(DEFAULT, host)).isNotNull();
    assertThat(refusal(ANY_NETWORK, host)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "127.9.9.9", "[::1]", "localhost", "[::ffff:127.0.0.1]"})
  void thisMachineIsCalledWhereThatIsWanted(String host) {
    assertThat(refusal(DEFAULT, host)).contains("punctual.dispatch.allowed-networks");
    assertThat(refusal(new CallbackTargets(List.of(), true), host)).isNull();
    assertThat(refusal(new CallbackTargets(List.of("127.0.0.0/8", "::1"), false), host)).isNull();
    assertThat(refusal(new CallbackTargets(List.of("10.0.0.0/8"), true), host)).isNotNull();
  }

  @Test
  void othersAreCalledUnlessNetworksAreGiven() {
    CallbackTargets own = new CallbackTargets(List.of("10.0.0.0/8", "fd12::/16"), false);
    for (String host : List.of("10.1.2.3", "[fd12::7]")) {
      assertThat(refusal(DEFAULT, host)).isNull();
      assertThat(refusal(own, host)).isNull();
    }
    for (String host : List.of("11.1.2.3", "[fd13::7]", "203.0.113.9", "[64:ff9b::b01:203]")) {
      assertThat(refusal(DEFAULT, host)).isNull();
      assertThat(refusal(own, host)).contains("is not called");
    }
    assertThatThrownBy(() -> DEFAULT.resolve("no-such-host.invalid"))
        .isInstanceOf(UnknownHostException.class)
        .isNotInstanceOf(AddressNotAllowedException.class);
  }

  @Test
  void whatIsNoNetworkIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new CallbackTargets(List.of("10.0.0.0/99"), false))
        .withMessageContaining("punctual.dispatch.allowed-networks", "10.0.0.0/99");
  }
}
