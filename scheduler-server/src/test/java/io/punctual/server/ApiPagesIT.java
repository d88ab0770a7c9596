package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.springframework.boot.test.context.SpringBootTest;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Replays the pages of the HTTP API: what stands there is what the scheduler does. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=ApiPagesIT"})
class ApiPagesIT extends SharedRedisTestBase {

  /** In this order: a page goes on from what the pages before it have made. */
  private static final List<String> PAGES =
      List.of(
          "api",
          "command",
          "claims",
          "api-jobs",
          "api-events",
          "api-many-jobs",
          "api-queues",
          "api-workers",
          "api-schedules",
          "api-submit-again",
          "errors");

  /** Pages with calls by curl, besides those above. */
  private static final List<String> MORE_CALLS =
      List.of("migration-cron", "overload", "reliability", "metrics", "operations");

  /** What is there before the calls of a page. */
  private static final List<String> JOBS =
      List.of("order-service/order.close/1001", "order-service/report.make/7", "shop/mail.send/m1");

  private static final Path DOCS = Path.of("../docs");
  private static final Pattern EXAMPLE =
      Pattern.compile("```http\\n(.*?)\\n\\n(.*?)\\n```", Pattern.DOTALL);
  private static final Pattern NAME = Pattern.compile("\\{\\{(\\w+)}}");
  private static final Pattern CALLS =
      Pattern.compile("```bash\\n(.*?)```(?:\\n\\n```json\\n(.*?)```)?", Pattern.DOTALL);
  private static final JsonMapper JSON = new JsonMapper();

  private final Map<String, String> kept = new HashMap<>();

  private record Example(String call, List<String> headers, String body, Expected expected) {}

  private record Expected(int status, List<String> headers, String body) {}

  /** The examples first: the calls change what these need. */
  @TestFactory
  Stream<DynamicTest> everyExampleAndEveryCallHolds() {
    return Stream.concat(everyExampleHolds(), everyCallSucceeds());
  }

  private Stream<DynamicTest> everyExampleHolds() {
    List<DynamicTest> tests = new ArrayList<>();
    for (String name : PAGES) {
      String page = read(DOCS.resolve(name + ".md"));
      List<Example> examples =
          EXAMPLE
              .matcher(page)
              .results()
              .map(found -> example(found.group(1), found.group(2)))
              .toList();
      // A block that is not of the form would be left out unseen.
      assertThat(examples).as(name).isNotEmpty().hasSize(blocks(page));
      for (Example example : examples) {
        tests.add(
            DynamicTest.dynamicTest(
                name + ": " + example.call() + " " + example.body(), () -> run(example)));
      }
    }
    assertThat(tests).hasSizeGreaterThanOrEqualTo(120);
    return tests.stream();
  }

  /** In a shell; a block of JSON behind a call is its answer. */
  private Stream<DynamicTest> everyCallSucceeds() {
    List<DynamicTest> tests = new ArrayList<>();
    for (String name : Stream.of(PAGES, MORE_CALLS).flatMap(List::stream).toList()) {
      Matcher calls = CALLS.matcher(read(DOCS.resolve(name + ".md")));
      while (calls.find()) {
        String commands = calls.group(1);
        String answer = calls.group(2);
        if (commands.contains("localhost:8080")) {
          tests.add(
              DynamicTest.dynamicTest(
                  name + ": " + commands.lines().findFirst().orElse(""),
                  () -> call(commands, answer)));
        }
      }
    }
    assertThat(tests).hasSizeGreaterThanOrEqualTo(15);
    return tests.stream();
  }

  private void call(String commands, @Nullable String expected) throws Exception {
    for (String job : JOBS) {
      if (commands.contains(job) || commands.contains("/jobs:")) {
        api.post(
            "/api/v1/jobs",
            """
            {"application": "%s", "taskType": "%s", "taskId": "%s", "delay": "1h"}\
            """
                .formatted((Object[]) job.split("/")));
      }
    }
    if (commands.contains("/restore")) {
      api.delete("/api/v1/jobs/" + JOBS.get(0));
    }
    Process shell =
        new ProcessBuilder(
                "bash",
                "-euo",
                "pipefail",
                "-c",
                "curl() { command curl -fsS \"$@\" && echo; }\n"
                    + commands.replace("localhost:8080", "localhost:" + port))
            .redirectErrorStream(true)
            .start();
    String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(shell.waitFor()).as(said).isZero();
    if (expected != null) {
      String last = said.lines().reduce((one, next) -> next).orElse("");
      compare("", JSON.readTree(expected.replace("\"...\"", "\"…\"")), JSON.readTree(last));
    }
  }

  /** The newest losses cannot be made here: their document is held to the contract. */
  @Test
  void theDocumentOfLossesIsThatOfTheContract() {
    Matcher document =
        Pattern.compile("```json\\n(.*?)```", Pattern.DOTALL).matcher(read(DOCS.resolve("api.md")));
    assertThat(document.find()).isTrue();
    String text = document.group(1).replace("\"...\"", "\"2026-11-22T10:00:00Z\"");
    assertThat(text).contains("losses");
    Contract.check(
        "GET",
        "/api/v1/store/losses",
        Answer.of(
            200,
            HttpHeaders.of(
                Map.of("Content-Type", List.of("application/json")), (name, value) -> true),
            text));
  }

  /** An example on another page would not be replayed. */
  @Test
  void noOtherPageHasExamples() throws IOException {
    try (Stream<Path> files = Files.list(DOCS)) {
      assertThat(files.filter(file -> file.toString().endsWith(".md")))
          .filteredOn(file -> blocks(read(file)) > 0)
          .extracting(file -> file.getFileName().toString().replace(".md", ""))
          .containsExactlyInAnyOrderElementsOf(PAGES);
    }
  }

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int blocks(String page) {
    return page.split("```http", -1).length - 1;
  }

  private static Example example(String request, String answer) {
    List<String> asked = request.lines().toList();
    List<String> answered = answer.lines().toList();
    return new Example(
        asked.get(0),
        headers(asked),
        body(asked),
        new Expected(Integer.parseInt(answered.get(0)), headers(answered), body(answered)));
  }

  private static List<String> headers(List<String> lines) {
    return lines.stream().skip(1).takeWhile(line -> !line.startsWith("{")).toList();
  }

  private static String body(List<String> lines) {
    return String.join("\n", lines.stream().dropWhile(line -> !line.startsWith("{")).toList());
  }

  private void run(Example example) {
    String[] call = filled(example.call()).split(" ", 2);
    Answer answer =
        api.send(
            call[1],
            request -> {
              example
                  .headers()
                  .forEach(
                      header -> {
                        String[] parts = filled(header).split(": ", 2);
                        request.header(parts[0], parts[1]);
                      });
              if (example.body().isEmpty()) {
                return request.method(call[0], BodyPublishers.noBody());
              }
              return request
                  .header("Content-Type", "application/json")
                  .method(call[0], BodyPublishers.ofString(filled(example.body())));
            });
    Expected expected = example.expected();
    assertThat(answer.status()).as(answer.text()).isEqualTo(expected.status());
    if (answer.status() < 400 && !example.body().isEmpty()) {
      Contract.checkRequest(
          call[0], call[1].replaceAll("\\?.*", ""), JSON.readTree(filled(example.body())));
    }
    for (String header : expected.headers()) {
      String[] parts = header.split(": ", 2);
      compareText(parts[0], parts[1], answer.header(parts[0]));
    }
    if (expected.body().isEmpty()) {
      assertThat(answer.text()).isEmpty();
    } else {
      compare("", JSON.readTree(expected.body()), answer.body());
    }
  }

  private String filled(String text) {
    return NAME.matcher(text)
        .replaceAll(
            name -> {
              assertThat(kept).as("kept by an earlier answer").containsKey(name.group(1));
              return Matcher.quoteReplacement(kept.get(name.group(1)));
            });
  }

  private void compare(String path, JsonNode expected, JsonNode actual) {
    if (expected.isObject()) {
      assertThat(actual.isObject()).as(path).isTrue();
      for (Map.Entry<String, JsonNode> member : expected.properties()) {
        String at = path + "/" + member.getKey();
        assertThat(actual.has(member.getKey())).as("%s in %s", at, actual).isTrue();
        compare(at, member.getValue(), actual.get(member.getKey()));
      }
    } else if (expected.isArray()) {
      assertThat(actual.size()).as("%s: %s", path, actual).isEqualTo(expected.size());
      for (int i = 0; i < expected.size(); i++) {
        compare(path + "/" + i, expected.get(i), actual.get(i));
      }
    } else if (expected.isString() && actual.isString()) {
      compareText(path, expected.stringValue(), actual.stringValue());
    } else if (!expected.isString() || !expected.stringValue().equals("…")) {
      assertThat(actual).as(path).isEqualTo(expected);
    } else {
      assertThat(actual.isNull()).as(path).isFalse();
    }
  }

  private void compareText(String path, String expected, String actual) {
    Matcher name = NAME.matcher(expected);
    if (name.matches()) {
      String before = kept.putIfAbsent(name.group(1), actual);
      if (before != null) {
        assertThat(actual).as(path).isEqualTo(before);
      }
    } else if (!expected.equals("…")) {
      assertThat(actual).as(path).isEqualTo(expected);
    }
  }
}
