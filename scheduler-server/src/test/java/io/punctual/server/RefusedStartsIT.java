package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.punctual.test.redis.RedisExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A scheduler that would be open, or cannot keep a setting, does not start and says what to do. */
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
@Tag("full")
class RefusedStartsIT {

  // The hash of admin.
  private static final String WELL_KNOWN =
      "$2a$04$VxsMAxoSpOe0rJyHfyxXgOEJow2eYmivY2HUl3YpOCNtAOhsBQQY.";
  private static final String KEY = "--punctual.security.signing-keys=" + AccessIT.SIGNING_KEY;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--spring.profiles.active=closed | punctual.security.signing-keys is not set",
        "--spring.profiles.active=closed --punctual.security.signing-keys= | is not set",
        "--spring.profiles.active=closed --punctual.security.signing-key=x"
            + " | punctual.security.signing-key (did you mean punctual.security.signing-keys?)",
        "--spring.profiles.active=closed --punctual.security.signing-keys=tooShort | too short",
        "--spring.profiles.active=closed"
            + " --punctual.security.signing-keys=changeme-changeme-changeme-changeme | well known",
        "--spring.profiles.active=closed"
            + " --punctual.security.signing-keys=default_token0123456789abcdefghijkl | well known",
        "--spring.profiles.active=closed"
            + " --punctual.security.signing-keys=abababababababababababababababababab | too few",
        "--spring.profiles.active=closed KEY --punctual.security.operators.ada.role=admin"
            + " --punctual.security.operators.ada.password=plain-text | must be a hash",
        "--spring.profiles.active=closed KEY --punctual.security.operators.ada.role=admin"
            + " --punctual.security.operators.ada.password={noop}admin | must be a hash",
        "--spring.profiles.active=closed KEY --punctual.security.operators.ada.role=admin"
            + " --punctual.security.operators.ada.password={bcrypt}KNOWN | everybody tries first",
        "--spring.profiles.active=quickstart --server.address=0.0.0.0 | must be a loopback address",
        "--spring.profiles.active=quickstart --management.server.port=0 | management.server.address",
        "--spring.profiles.active=closed KEY --punctual.dispatch.allowed-networks=everywhere"
            + " | punctual.dispatch.allowed-networks"
      })
  void whatWouldBeOpenDoesNotStart(String settings, String message, CapturedOutput output) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.port=0",
                "--eureka.client.enabled=false",
                "--spring.data.redis.host=" + RedisExtension.redis().host(),
                "--spring.data.redis.port=" + RedisExtension.redis().port()));
    Arrays.stream(settings.strip().split(" "))
        .map(setting -> setting.equals("KEY") ? KEY : setting.replace("KNOWN", WELL_KNOWN))
        .forEach(arguments::add);
    SpringApplication application = new SpringApplication(PunctualServerApplication.class);
    Throwable thrown =
        catchThrowable(() -> application.run(arguments.toArray(String[]::new)).close());
    assertThat(thrown).isNotNull();
    assertThat(output.getAll()).contains(message);
    // What is wrong with a secret is said without it.
    assertThat(output.getAll()).doesNotContain("tooShort", "plain-text", WELL_KNOWN, "changeme-");
  }

  @ParameterizedTest
  @CsvSource({
    "punctual.durability=disk, 'punctual.durability: must be auto'",
    "punctual.durability=replicated:0, 'punctual.durability: must be auto'",
    "punctual.retry=soon, 'punctual.retry: '",
    "punctual.queues[0].application=a --punctual.queues[0].task-type=t"
        + " --punctual.queues[0].retry=soon, 'punctual.queues[].retry: '",
    "punctual.dispatch.circuit.failures=5, 'punctual.dispatch.circuit.failures must be'",
    "punctual.durability=synced, 'punctual.durability=synced cannot be kept: Redis at'"
  })
  void aSettingThatCannotBeKeptEndsTheStartAndIsNamed(
      String settings, String message, CapturedOutput output) {
    String redis = "--spring.data.redis.port=" + RedisExtension.redis().port();
    String fixed = "--server.port=0 --eureka.client.enabled=false " + redis;
    SpringApplication application = new SpringApplication(PunctualServerApplication.class);

    assertThatThrownBy(() -> application.run((fixed + " --" + settings).split(" ")).close())
        .hasStackTraceContaining(message);

    // What Boot makes of it, instead of a stack.
    assertThat(output.getOut()).contains("APPLICATION FAILED TO START");
    String shown = output.getOut().replaceFirst("(?s).*APPLICATION FAILED TO START", "");
    assertThat(shown).contains(message, "Action:").doesNotContain("\tat ");
  }
}
