package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Tokens of an OAuth2 provider, by configuration alone; the test is the provider. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.security.signing-keys=" + AccessIT.SIGNING_KEY,
      "spring.security.oauth2.resourceserver.jwt.audiences=punctual"
    })
@Tag("full")
class ProviderTokensIT extends SharedRedisTestBase {

  private static final KeyPair PROVIDER = keys();

  private static KeyPair keys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      return generator.generateKeyPair();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @DynamicPropertySource
  static void provider(DynamicPropertyRegistry registry) throws IOException {
    Path key = Path.of("target", "provider.pem");
    Files.createDirectories(key.getParent());
    Files.writeString(
        key,
        "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getMimeEncoder().encodeToString(PROVIDER.getPublic().getEncoded())
            + "\n-----END PUBLIC KEY-----\n");
    registry.add(
        "spring.security.oauth2.resourceserver.jwt.public-key-location",
        () -> key.toUri().toString());
  }

  private static JWTClaimsSet claims(Map<String, Object> more) {
    JWTClaimsSet.Builder claims =
        new JWTClaimsSet.Builder()
            .subject("somebody")
            .audience("punctual")
            .expirationTime(Date.from(Instant.now().plusSeconds(600)));
    more.forEach(claims::claim);
    return claims.build();
  }

  private static String signed(KeyPair keys, JWTClaimsSet claims) {
    try {
      SignedJWT token = new SignedJWT(new JWSHeader(JWSAlgorithm.RS256), claims);
      token.sign(new RSASSASigner(keys.getPrivate()));
      return token.serialize();
    } catch (JOSEException e) {
      throw new AssertionError(e);
    }
  }

  static String token(Map<String, Object> more) {
    return signed(PROVIDER, claims(more));
  }

  private Answer get(String path, String token) {
    return api.call("GET", path, "", "Bearer " + token);
  }

  private Answer post(String path, String body, String token) {
    return api.call("POST", path, body, "Bearer " + token);
  }

  @Test
  void aTokenWithARoleIsAnOperators() {
    String job = "{\"application\":\"shop\",\"taskType\":\"a\",\"taskId\":\"r\",\"delay\":\"1h\"}";
    String admin = token(Map.of("scope", "openid punctual.viewer punctual.admin"));
    assertThat(post("/api/v1/jobs", job, admin).status()).isEqualTo(201);
    String viewer = token(Map.of("scope", List.of("punctual.viewer")));
    assertThat(get("/api/v1/jobs/shop/a/r", viewer).status()).isEqualTo(200);
    assertThat(post("/api/v1/queues/shop/a/pause", "", viewer).status()).isEqualTo(403);
    String operator = token(Map.of("scope", "punctual.operator"));
    assertThat(post("/api/v1/queues/shop/a/pause", "", operator).status()).isEqualTo(200);
    assertThat(get("/api/v1/audit", operator).at("/items/0/operator")).isEqualTo("somebody");
  }

  @Test
  void oneWithoutIsThatOfAnApplication() {
    String shop = token(Map.of("client_id", "Shop", "scope", "openid"));
    String job = "{\"taskType\":\"a\",\"taskId\":\"c\",\"delay\":\"1h\"}";
    assertThat(post("/api/v1/jobs", job, shop).status()).isEqualTo(201);
    assertThat(get("/api/v1/jobs/shop/a/c", shop).status()).isEqualTo(200);
    assertThat(get("/api/v1/jobs/other/a/c", shop).status()).isEqualTo(403);
    assertThat(get("/api/v1/audit", shop).status()).isEqualTo(403);
  }

  @Test
  void whatTheProviderDidNotMakeForUsIsNone() {
    Map<String, Object> admin = Map.of("scope", "punctual.admin");
    for (String token :
        List.of(
            signed(keys(), claims(admin)),
            new PlainJWT(claims(admin)).serialize(),
            token(Map.of("scope", "punctual.admin", "aud", "somebody else")),
            token(
                Map.of(
                    "scope", "punctual.admin", "exp", Date.from(Instant.now().minusSeconds(300)))),
            // Neither a role, nor an application.
            token(Map.of("scope", "openid")),
            token(Map.of("client_id", "no name: *")),
            token(Map.of("client_id", "")))) {
      Answer answer = get("/api/v1/queues", token);
      assertThat(answer.status()).as(answer.text()).isEqualTo(401);
      assertThat(answer.at("/code")).isEqualTo("unauthenticated");
    }
  }
}
