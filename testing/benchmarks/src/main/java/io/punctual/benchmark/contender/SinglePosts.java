package io.punctual.benchmark.contender;

import io.punctual.benchmark.contest.Contender;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** One job a POST, with the client that the starter and the dispatcher use. */
final class SinglePosts {

  private final List<URI> addresses;
  private final AtomicInteger turn = new AtomicInteger();
  private final String application;
  private final List<String> taskTypes;
  private final int status;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * @param servers base addresses with commas, which take turns
   * @param taskTypes which the jobs are spread over
   * @param status of the answer that is expected
   */
  SinglePosts(String servers, String path, String application, List<String> taskTypes, int status) {
    this.addresses =
        Arrays.stream(servers.split(",", -1)).map(server -> URI.create(server + path)).toList();
    this.application = application;
    this.taskTypes = taskTypes;
    this.status = status;
  }

  /** Sends the fields that the starter sends. */
  void submit(Contender.Job job) throws IOException, InterruptedException {
    String body =
        """
        {"application":"%s","taskType":"%s","taskId":"%s","delayTime":%d,"params":"%s"}"""
            .formatted(application, job.anyOf(taskTypes), job.id(), job.due(), job.payload());
    int answer = statusOf(body);
    if (answer != status) {
      throw new IOException(addresses + " answered HTTP " + answer);
    }
  }

  private int statusOf(String body) throws IOException, InterruptedException {
    try {
      return client.send(post(body), HttpResponse.BodyHandlers.discarding()).statusCode();
    } catch (IOException e) {
      // Seen once in a whole run: an answer came while the JDK's client took its connection for one
      // that rests, and closed it ("Data received while in pool"). The id makes a repeat safe.
      return client.send(post(body), HttpResponse.BodyHandlers.discarding()).statusCode();
    }
  }

  /** Sends any text. */
  CompletableFuture<HttpResponse<Void>> send(String body) {
    return client.sendAsync(post(body), HttpResponse.BodyHandlers.discarding());
  }

  private HttpRequest post(String body) {
    int next = Math.floorMod(turn.getAndIncrement(), addresses.size());
    return HttpRequest.newBuilder(addresses.get(next))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }
}
