package io.punctual.client.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfiguredSchedulersTest {

  private final Map<String, List<String>> dns = new ConcurrentHashMap<>();

  private SchedulerSource source(String... addresses) {
    return new ConfiguredSchedulers(
        List.of(addresses).stream().map(URI::create).toList(), this::addresses);
  }

  private InetAddress[] addresses(String host) throws UnknownHostException {
    List<String> known = dns.getOrDefault(host, List.of());
    if (known.isEmpty()) {
      throw new UnknownHostException(host);
    }
    InetAddress[] found = new InetAddress[known.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = InetAddress.getByName(known.get(i));
    }
    return found;
  }

  @Test
  void aNameStandsForAllItsAddressesOfThePresent() {
    SchedulerSource source = source("DNS://punctual-scheduler:8080", "https://other.example/");
    dns.put("punctual-scheduler", List.of("10.0.0.1", "10.0.0.2"));
    assertThat(source.schedulers())
        .map(URI::toString)
        .containsExactly("http://10.0.0.1:8080", "http://10.0.0.2:8080", "https://other.example");

    dns.put("punctual-scheduler", List.of("10.0.0.2", "10.0.0.3"));
    assertThat(source.schedulers())
        .map(URI::toString)
        .containsExactly("http://10.0.0.2:8080", "http://10.0.0.3:8080", "https://other.example");
  }

  @Test
  void aHostWithTwoKindsOfAddressesIsOneScheduler() {
    dns.put("both", List.of("fd00::1", "10.0.0.1"));
    assertThat(source("dns://both:8080").schedulers())
        .map(URI::toString)
        .containsExactly("http://[fd00:0:0:0:0:0:0:1]:8080");
  }

  @Test
  void theDnsOfThisMachineIsAsked() {
    assertThat(SchedulerSource.of(List.of(URI.create("dns://127.0.0.1:8080"))).schedulers())
        .containsExactly(URI.create("http://127.0.0.1:8080"));
    assertThat(SchedulerSource.of(List.of(URI.create("dns://localhost:8080"))).schedulers())
        .hasSize(1);
  }

  @Test
  void aNameThatTheDnsDoesNotKnowIsNamed() {
    SchedulerSource source = source("dns://nowhere:8080");
    assertThat(source.schedulers()).isEmpty();
    assertThat(source.whyNone())
        .isEqualTo("No address of nowhere is known: the DNS has none, or does not answer.");
    assertThat(source.remedy(false)).contains("Correct punctual.url");

    dns.put("nowhere", List.of("10.0.0.1"));
    assertThat(source.schedulers()).hasSize(1);
    dns.clear();
    assertThat(source.schedulers()).as("the last ones count").hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dns://name",
        "dns://name:0",
        "dns://name:65536",
        "dns://:8080",
        "dns://a_b:8080",
        "dns:name:8080",
        "dns://name:8080/path",
        "dns://name:8080?query",
        "dns://user:secret@name:8080"
      })
  void onlyAHostAndAPortAreTaken(String address) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> source(address))
        .withMessageContaining("such as dns://punctual-scheduler:8080")
        .withMessageNotContaining("secret");
  }
}
