package io.punctual.systemtest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** An authority, and what it certifies for 127.0.0.1. Made by the commands of docs/tls.md. */
final class Certificates {

  static final String PASSWORD = "only-in-this-test";

  private final Path directory;
  private final String store;
  private final String certificate;

  /**
   * Makes an authority.
   *
   * @param directory for its files
   */
  Certificates(Path directory) throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    String[] parts =
        MarkdownPage.of("docs/tls.md").blocks("Certificates", "bash").get(0).split("\n\n", 2);
    store = parts[0].lines().findFirst().orElseThrow() + "\n";
    certificate = parts[1];
    shell(parts[0]);
  }

  /** Makes a key and certifies it. */
  void certify(String name) throws IOException {
    shell(
        store
            + certificate
                .replace(
                    "name=scheduler host=scheduler.example", "name=" + name + " host=localhost")
                .replace("san=dns:", "san=ip:127.0.0.1,dns:"));
  }

  /** The file with a key and its certificate. */
  Path store(String name) {
    return file(name + ".p12");
  }

  /** What is trusted: certificates of this authority. */
  Path trusted() {
    return file("trust.p12");
  }

  /** The key of a certificate as a file for programs that are not Java. */
  Path pemKey(String name) throws IOException, GeneralSecurityException {
    byte[] key =
        Objects.requireNonNull(load(store(name)).getKey(name, PASSWORD.toCharArray()).getEncoded());
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key);
    return Files.writeString(
        file(name + ".key"),
        "-----BEGIN PRIVATE KEY-----\n" + base64 + "\n-----END PRIVATE KEY-----\n");
  }

  /** A certificate, or the authority's, as a file for programs that are not Java. */
  Path pem(String name) {
    return file(name + ".pem");
  }

  /** Trusts this authority, and shows nothing. */
  SSLContext trusting() throws IOException, GeneralSecurityException {
    return context(null);
  }

  /** Trusts this authority, and shows that certificate. */
  SSLContext of(String name) throws IOException, GeneralSecurityException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(load(store(name)), PASSWORD.toCharArray());
    return context(keys);
  }

  private SSLContext context(@Nullable KeyManagerFactory keys)
      throws IOException, GeneralSecurityException {
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(load(trusted()));
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, PASSWORD.toCharArray());
      return store;
    }
  }

  private Path file(String name) {
    return directory.resolve(name);
  }

  private void shell(String commands) throws IOException {
    String path = Path.of(System.getProperty("java.home"), "bin") + ":" + System.getenv("PATH");
    ExampleProgram.run(
        directory, Map.of("PASSWORD", PASSWORD, "PATH", path), "bash", "-euc", commands);
  }
}
