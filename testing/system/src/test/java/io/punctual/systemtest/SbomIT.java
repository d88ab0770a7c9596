package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What each program says that it is made of, and what lies beside it. */
@Tag("full")
class SbomIT {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eureka-registry",
        "scheduler-server",
        "demo-order-service",
        "demo-order-plugin",
      })
  void theBillOfMaterialsListsEveryJarAndNoOther(String program) throws Exception {
    Path target = ModuleDirectory.of(program).resolve("target");
    JsonNode bill = bill(target, program);

    assertThat(bill.get("bomFormat").stringValue()).isEqualTo("CycloneDX");
    assertThat(bill.at("/metadata/component/name").stringValue()).isEqualTo(program);
    // It would make each build another one.
    assertThat(bill.at("/metadata").has("timestamp")).isFalse();
    Map<String, String> listed = listed(bill);
    Map<String, String> there = there(target.resolve("lib"));
    assertThat(listed).hasSizeGreaterThan(20).containsExactlyEntriesOf(there);
  }

  private static JsonNode bill(Path target, String program) throws IOException {
    String version = System.getProperty("punctual.version", "0.1.0-SNAPSHOT");
    try (JarFile jar = new JarFile(target.resolve(program + "-" + version + ".jar").toFile())) {
      var entry = jar.getJarEntry("META-INF/sbom/application.cdx.json");
      assertThat(entry).isNotNull();
      try (InputStream in = jar.getInputStream(entry)) {
        return JsonMapper.shared().readTree(in);
      }
    }
  }

  /** File name to SHA-256. */
  private static Map<String, String> listed(JsonNode bill) {
    Map<String, String> listed = new TreeMap<>();
    for (JsonNode component : bill.get("components")) {
      String name = component.get("name").stringValue();
      String version = component.get("version").stringValue();
      String sha256 = "none";
      for (JsonNode hash : component.get("hashes")) {
        if (hash.get("alg").stringValue().equals("SHA-256")) {
          sha256 = hash.get("content").stringValue();
        }
      }
      listed.put(name + "-" + version + ".jar", sha256);
    }
    return listed;
  }

  private static Map<String, String> there(Path lib) throws IOException, NoSuchAlgorithmException {
    Map<String, String> there = new TreeMap<>();
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    try (Stream<Path> files = Files.list(lib)) {
      for (Path file : files.toList()) {
        there.put(
            String.valueOf(file.getFileName()),
            HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file))));
      }
    }
    return there;
  }
}
