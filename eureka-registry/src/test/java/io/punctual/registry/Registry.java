package io.punctual.registry;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A real registry on a free port, asked over HTTP. */
final class Registry implements AutoCloseable {

  static final String PASSWORD = "b7f3Jq9zW0xYk2Lm5RtU";

  private final ConfigurableApplicationContext context;
  private HttpClient client;
  private final URI root;

  private Registry(ConfigurableApplicationContext context) {
    this.context = context;
    this.client = client("127.0.0.1");
    this.root =
        URI.create(
            "http://127.0.0.1:"
                + context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  private static HttpClient client(String address) {
    try {
      return HttpClient.newBuilder()
          .connectTimeout(Duration.ofSeconds(5))
          .localAddress(InetAddress.getByName(address))
          .build();
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends all further requests from another address of this machine. */
  void callFrom(String address) {
    client = client(address);
  }

  static Registry start(String... arguments) {
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    if (all.stream().noneMatch(argument -> argument.startsWith("--server.port="))) {
      all.add("--server.port=0");
    }
    return new Registry(
        new SpringApplicationBuilder(EurekaRegistryApplication.class)
            .run(all.toArray(String[]::new)));
  }

  HttpResponse<String> get(String path, @Nullable String credentials, String... headers)
      throws IOException, InterruptedException {
    return send(request(path, credentials, headers).GET());
  }

  HttpResponse<String> register(String application, @Nullable String credentials, String... headers)
      throws IOException, InterruptedException {
    return post(
        "/eureka/apps/" + application,
        credentials,
        "application/json",
        instance(application),
        headers);
  }

  private static String instance(String application) {
    return """
      {"instance": {"instanceId": "%1$s:1", "app": "%1$s", "hostName": "127.0.0.1",
        "ipAddr": "127.0.0.1", "vipAddress": "%1$s", "status": "UP",
        "port": {"$": 1, "@enabled": "true"}, "securePort": {"$": 443, "@enabled": "false"},
        "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
          "name": "MyOwn"}}}
      """
        .formatted(application);
  }

  HttpResponse<String> post(
      String path, @Nullable String credentials, String type, String body, String... headers)
      throws IOException, InterruptedException {
    return send(
        request(path, credentials, headers)
            .header("Content-Type", type)
            .POST(BodyPublishers.ofString(body)));
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  /**
   * A request that is not sent yet.
   *
   * @param credentials {@code name:password}, or null for none
   */
  HttpRequest.Builder request(String path, @Nullable String credentials, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(root + path)).timeout(Duration.ofSeconds(10));
    request.header("Accept", "application/json, text/html;q=0.9");
    if (credentials != null) {
      request.header(
          "Authorization",
          "Basic "
              + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return request;
  }

  int port() {
    return root.getPort();
  }

  @Override
  public void close() {
    context.close();
  }
}
