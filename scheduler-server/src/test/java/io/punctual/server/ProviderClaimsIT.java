package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Tokens of an OAuth2 provider that has other claims, named by Spring's own properties. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.security.signing-keys=" + AccessIT.SIGNING_KEY,
      "spring.security.oauth2.resourceserver.jwt.audiences=punctual",
      "spring.security.oauth2.resourceserver.jwt.authorities-claim-name=groups",
      "spring.security.oauth2.resourceserver.jwt.principal-claim-name=azp"
    })
@Tag("full")
class ProviderClaimsIT extends SharedRedisTestBase {

  @DynamicPropertySource
  static void provider(DynamicPropertyRegistry registry) throws IOException {
    ProviderTokensIT.provider(registry);
  }

  @Test
  void rolesAndTheApplicationAreReadFromTheClaimsThatAreNamed() {
    assertThat(status(Map.of("groups", "punctual.viewer"))).isEqualTo(200);
    assertThat(status(Map.of("scope", "punctual.viewer"))).isEqualTo(401);
    assertThat(status(Map.of("azp", "shop"))).isEqualTo(200);
    assertThat(status(Map.of("client_id", "shop"))).isEqualTo(401);
  }

  private int status(Map<String, Object> claims) {
    String token = "Bearer " + ProviderTokensIT.token(claims);
    return api.call("GET", "/api/v1/queues", "", token).status();
  }
}
