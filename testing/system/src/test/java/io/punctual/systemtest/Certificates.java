package io.punctual.systemtest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** An authority of its own, and what it certifies for 127.0.0.1. Made by keytool. */
final class Certificates {

  static final String PASSWORD = "only-in-this-test";

  private final Path directory;

  /**
   * Makes an authority.
   *
   * @param directory for its files
   */
  Certificates(Path directory) throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    generate("ca", "-dname", "CN=ca", "-ext", "bc:c", "-ext", "ku=keyCertSign");
    keytool("-exportcert", "-rfc", "-alias", "ca", "-keystore", "ca.p12", "-file", "ca.pem");
    keytool(
        "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", "trust.p12");
  }

  /** Makes a key and certifies it. */
  void certify(String name) throws IOException {
    generate(name, "-dname", "CN=" + name);
    keytool("-certreq", "-alias", name, "-keystore", name + ".p12", "-file", name + ".csr");
    keytool(
        "-gencert",
        "-rfc",
        "-alias",
        "ca",
        "-keystore",
        "ca.p12",
        "-infile",
        name + ".csr",
        "-outfile",
        name + ".pem",
        "-validity",
        "2",
        "-ext",
        "san=ip:127.0.0.1,dns:localhost");
    String store = name + ".p12";
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", store);
    keytool("-importcert", "-alias", name, "-file", name + ".pem", "-keystore", store);
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

  private void generate(String name, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of("-genkeypair", "-alias", name, "-keystore", name + ".p12", "-keyalg", "EC"));
    arguments.addAll(List.of("-groupname", "secp256r1", "-validity", "2"));
    arguments.addAll(List.of(more));
    keytool(arguments.toArray(String[]::new));
  }

  private void keytool(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
    Process keytool =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (keytool.waitFor() != 0) {
        throw new IllegalStateException(command + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }
}
