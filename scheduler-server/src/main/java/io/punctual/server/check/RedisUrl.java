package io.punctual.server.check;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLParameters;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * The address of a server.
 *
 * @param user empty for the default user
 * @param password empty for none
 */
public record RedisUrl(
    boolean tls, String user, String password, String host, int port, int database) {

  private static final int PORT = 6379;
  private static final int PATIENCE_MS = 30_000;
  private static final String FORM =
      "The URL must be redis://[[user]:password@]host[:port][/database], or rediss:// for TLS. In"
          + " user and password write characters such as @ : / # ? % as %40 %3A %2F %23 %3F %25.";

  /**
   * Reads a URL.
   *
   * @throws IllegalArgumentException if it is none; does not say its password
   */
  public static RedisUrl parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // It has the password in its message.
      throw new IllegalArgumentException(FORM);
    }
    String scheme = String.valueOf(uri.getScheme());
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    if (uri.getHost() == null && hostOf(uri).contains("_")) {
      throw new IllegalArgumentException(
          "The host of the URL has an underscore, which a URL does not allow. Use its address.");
    }
    if (!scheme.matches("rediss?")
        || uri.getHost() == null
        || uri.getPort() == 0
        || uri.getPort() > 65_535
        || uri.getRawQuery() != null
        || uri.getRawFragment() != null
        || !path.matches("/?|/\\d{1,5}")) {
      throw new IllegalArgumentException(FORM);
    }
    String login = uri.getRawUserInfo() == null ? "" : uri.getRawUserInfo();
    int colon = login.indexOf(':');
    if (colon < 0 && !login.isEmpty()) {
      throw new IllegalArgumentException(FORM);
    }
    return new RedisUrl(
        scheme.equals("rediss"),
        decoded(login.substring(0, Math.max(0, colon))),
        decoded(login.substring(colon + 1)),
        // Of an address of IPv6.
        uri.getHost().replaceAll("[\\[\\]]", ""),
        uri.getPort() < 0 ? PORT : uri.getPort(),
        path.length() < 2 ? 0 : Integer.parseInt(path.substring(1)));
  }

  /** As it stands there, also where that is no host. */
  private static String hostOf(URI uri) {
    String authority = String.valueOf(uri.getRawAuthority());
    return authority.substring(authority.lastIndexOf('@') + 1);
  }

  // In a query, as in that class, a plus is a space.
  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** The same server with another login, where the URL has none. */
  RedisUrl orLogin(String otherUser, String otherPassword) {
    return user.isEmpty() && password.isEmpty()
        ? new RedisUrl(tls, otherUser, otherPassword, host, port, database)
        : this;
  }

  /** The same server with another password, where the URL has none. */
  public RedisUrl orPassword(String other) {
    return password.isEmpty() ? new RedisUrl(tls, user, other, host, port, database) : this;
  }

  /** Returns a client of the server, which connects when it is used. */
  public UnifiedJedis connect() {
    DefaultJedisClientConfig.Builder client =
        DefaultJedisClientConfig.builder().timeoutMillis(PATIENCE_MS).database(database).ssl(tls);
    if (!user.isEmpty()) {
      client.user(user);
    }
    if (!password.isEmpty()) {
      client.password(password);
    }
    if (tls) {
      SSLParameters parameters = new SSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      client.sslParameters(parameters);
    }
    return RedisClient.builder()
        .hostAndPort(new HostAndPort(host, port))
        .clientConfig(client.build())
        .build();
  }

  /** For people: without the password. */
  @Override
  public String toString() {
    return (tls ? "rediss://" : "redis://")
        + (user.isEmpty() ? "" : user + "@")
        + (host.contains(":") ? "[" + host + "]" : host)
        + ":"
        + port
        + (database == 0 ? "" : "/" + database);
  }
}
