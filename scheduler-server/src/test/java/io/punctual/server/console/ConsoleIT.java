package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.UndoLimits;
import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.history.History;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.security.Allowed;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.net.HttpCookie;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.webjars.WebJarVersionLocator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The console below its looks: who gets in, and what forms do. */
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_OUT)
@TestPropertySource(properties = SharedRedisTestBase.ALONE + "=ConsoleIT")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleIT extends ConsoleTestBase {

  @Autowired
  @Qualifier("requestMappingHandlerMapping")
  private RequestMappingHandlerMapping mappings;

  @Autowired private StringRedisTemplate redis;
  @Autowired private QueueService queues;
  @Autowired private QueueStatistics statistics;

  private record Route(String method, String path, @Nullable Allowed allowed) {

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  private static final String LONG = "x".repeat(201);
  private static final JsonMapper JSON = new JsonMapper();

  private final Map<String, Visitor> visitors = new HashMap<>();
  private final String id = "c-" + UUID.randomUUID();

  @AfterAll
  void leave() {
    visitors.values().forEach(Visitor::close);
  }

  @BeforeEach
  void aJob() {
    if (call("GET", "/api/v1/jobs/shop/a/" + id, "") == 404) {
      submit("a", id, "1h", ",\"params\":\"{}\",\"tags\":[\"t\"]");
    }
  }

  private Stream<Route> routes() {
    return mappings.getHandlerMethods().entrySet().stream()
        .filter(entry -> entry.getValue().getBeanType().getPackageName().endsWith("server.console"))
        .flatMap(
            entry ->
                entry.getKey().getPatternValues().stream()
                    .filter(pattern -> !Set.of("/", "/console/login").contains(pattern))
                    .flatMap(
                        pattern ->
                            entry.getKey().getMethodsCondition().getMethods().stream()
                                .map(
                                    method ->
                                        new Route(
                                            method.name(),
                                            pattern
                                                .replace("{application}", "shop")
                                                .replace("{taskType}", "a")
                                                .replace("{taskId}", "none")
                                                .replace("{scheduleId}", "none")
                                                .replace("{id}", "none"),
                                            entry.getValue().getMethodAnnotation(Allowed.class)))));
  }

  /** Forms and parts of pages have no address that is kept. */
  @Test
  void theDocumentationHasTheAddressOfEachPageWithItsParameters() throws IOException {
    Map<String, String> rows =
        Pattern.compile("(?m)^\\| `(/console[^`]*)` \\|(.*)\\|$")
            .matcher(Files.readString(Path.of("../docs/console.md")))
            .results()
            .collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
    Map<String, HandlerMethod> pages = new HashMap<>();
    mappings
        .getHandlerMethods()
        .forEach(
            (mapping, method) -> {
              if (method.getBeanType().getPackageName().endsWith("server.console")
                  && mapping.getMethodsCondition().getMethods().contains(RequestMethod.GET)) {
                for (String pattern : mapping.getPatternValues()) {
                  pages.put(
                      pattern
                          .replace("{application}", "APP")
                          .replace("{taskType}", "TYPE")
                          .replaceAll("\\{\\w*[iI]d}", "ID"),
                      method);
                }
              }
            });
    pages
        .keySet()
        .removeIf(address -> address.matches(".*/|.*/(login|charts|new|edit|backfill|bulk/.*)"));
    assertThat(pages.keySet()).containsExactlyInAnyOrderElementsOf(rows.keySet());

    pages.forEach(
        (address, method) -> {
          String row = rows.get(address);
          for (Parameter parameter : method.getMethod().getParameters()) {
            if (parameter.isAnnotationPresent(RequestParam.class)
                && !Set.of("part", "cursor", "at").contains(parameter.getName())) {
              assertThat(row).as(address).contains("`" + parameter.getName() + "`");
            }
          }
        });
    assertThat(rows.get("/console/queues"))
        .contains(
            QueueHealth.states().stream().map(state -> "`" + state + "`").toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("routes")
  void everyPageIsForThoseWhoMaySeeIt(Route route) {
    Allowed allowed = route.allowed();
    assertThat(allowed).as("the rule of " + route).isNotNull();
    try (Visitor stranger = new Visitor(port)) {
      var unused = stranger.get("/console/login");
      HttpResponse<String> answer = send(stranger, route);
      assertThat(answer.statusCode()).isEqualTo(302);
      assertThat(answer.headers().firstValue("Location").orElse("")).endsWith("/console/login");
    }
    OPERATORS.forEach(
        (role, name) -> {
          Visitor visitor = visitors.computeIfAbsent(name, any -> Visitor.loggedIn(port, any));
          HttpResponse<String> answer = send(visitor, route);
          assertThat(answer.statusCode() == 403)
              .as(role.toString())
              .isEqualTo(!role.includes(allowed.value()));
          assertThat(answer.statusCode()).as(answer.body()).isLessThan(500);
        });
  }

  private static HttpResponse<String> send(Visitor visitor, Route route) {
    return route.method().equals("GET")
        ? visitor.get(route.path())
        : visitor.post(route.path(), Map.of("q", "nothing", "when", "never", "state", "dead"));
  }

  @Test
  void assetsAreKeptByTheirContentAndChangeTheirNamesWithIt() {
    try (Visitor stranger = new Visitor(port)) {
      String page = stranger.get("/console/login").body();
      List<String> links =
          Pattern.compile("(?:href|src)=\"(/console/assets/[^\"]+)\"")
              .matcher(page)
              .results()
              .map(link -> link.group(1))
              .toList();
      assertThat(links)
          .hasSizeGreaterThan(4)
          .allMatch(link -> link.matches(".+-[0-9a-f]{32}\\.(?:js|css|svg)"));
      for (String link : links) {
        HttpResponse<String> asset = stranger.get(link);
        assertThat(asset.statusCode()).as(link).isEqualTo(200);
        assertThat(asset.headers().firstValue("Cache-Control").orElse(""))
            .contains("max-age=31536000", "immutable");
      }
      String style = links.stream().filter(link -> link.contains("console-")).findFirst().get();
      assertThat(stranger.get(style).body())
          .contains(
              " Bootstrap Icons " + new WebJarVersionLocator().version("bootstrap-icons") + ".")
          .containsPattern("icons/stack-[0-9a-f]{32}\\.svg");
    }
  }

  @Test
  void strangersLeaveNothingBehindAndPartsOfPagesSendThemToTheLogin() {
    try (Visitor stranger = new Visitor(port)) {
      assertThat(stranger.get("/console/login").statusCode()).isEqualTo(200);
      assertThat(stranger.get("/console/assets/console.css").statusCode()).isEqualTo(200);
      HttpResponse<String> part = stranger.get("/console/queues", "HX-Request", "true");
      assertThat(part.statusCode()).isEqualTo(401);
      assertThat(part.headers().firstValue("HX-Refresh")).contains("true");
      assertThat(stranger.cookies())
          .extracting(HttpCookie::getName)
          .doesNotContain("punctual-session");
    }
  }

  @Test
  void anAdministratorAsksApplicationsToSendAgain() {
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      assertThat(Visitor.next(bea.post("/console/losses/resend", Map.of()))).endsWith("/console");
      assertThat(bea.get("/console/audit").body())
          .contains("since <time class=\"exact\" datetime=\"1970-01-01T00:00:00Z\">");
    }
  }

  @Test
  void theCookieIsTheConsolesAlone() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      assertThat(vera.cookies())
          .filteredOn(cookie -> cookie.getName().equals("punctual-session"))
          .singleElement()
          .satisfies(
              cookie -> {
                assertThat(cookie.isHttpOnly()).isTrue();
                assertThat(cookie.getPath()).isEqualTo("/console");
                String sent = cookie.getName() + "=" + cookie.getValue();
                assertThat(vera.get("/api/v1/queues", "Cookie", sent).statusCode()).isEqualTo(401);
              });
      assertThat(vera.post("/console/logout", Map.of()).statusCode()).isEqualTo(302);
      assertThat(vera.get("/console").statusCode()).isEqualTo(302);
    }
  }

  @Test
  void whoHasToLogInFirstGetsWhereTheyWantedTo() {
    try (Visitor vera = new Visitor(port)) {
      var first = vera.get("/console/queues?sort=ready&q=a%20b", "Accept", "text/html");
      assertThat(Visitor.next(first)).isEqualTo("/console/login");
      // Neither what a page asks for again, nor what it sends, nor what is no page.
      vera.get("/console/charts", "Accept", "text/html", "HX-Request", "true");
      vera.get("/console/charts", "Accept", "text/html", "Sec-Fetch-Dest", "empty");
      vera.get("/console/charts", "Accept", "application/json");
      vera.post("/console/bulk", Map.of());
      assertThat(vera.cookies())
          .filteredOn(cookie -> cookie.getName().equals("punctual-return"))
          .singleElement()
          .satisfies(
              cookie -> {
                assertThat(cookie.getPath()).isEqualTo("/console");
                assertThat(cookie.isHttpOnly()).isTrue();
              });
      assertThat(first.headers().firstValue("Set-Cookie").orElse("")).contains("SameSite=Strict");

      assertThat(Visitor.next(vera.logIn("vera", PASSWORD)))
          .isEqualTo("/console/queues?sort=ready&q=a%20b");
      assertThat(vera.cookies())
          .extracting(HttpCookie::getName)
          .doesNotContain("punctual-return", "REDIRECT_URI");
    }
  }

  @Test
  void theAddressOfTheSchedulerLeadsToTheConsole() {
    try (Visitor stranger = new Visitor(port)) {
      assertThat(stranger.get("/").headers().firstValue("Location")).hasValue("/console");
    }
  }

  @Test
  void noRedirectLeadsToAHostThatTheRequestNamed() throws IOException {
    try (Socket socket = new Socket("localhost", port)) {
      socket
          .getOutputStream()
          .write(
              "GET /console HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 302")
          .contains("\r\nLocation: /console/login\r\n")
          .doesNotContain("evil.example");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://evil.example",
        "//evil.example",
        "/consolex",
        "/console\r\nX: y",
        "/console/../..//evil",
        "/console//evil.example",
        "/console/./x",
        "\u0000"
      })
  void nobodyIsSentElsewhereAfterTheLogin(String wanted) {
    try (Visitor vera = new Visitor(port)) {
      vera.keep(
          "punctual-return",
          Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(wanted.getBytes(StandardCharsets.UTF_8)));
      assertThat(Visitor.next(vera.logIn("vera", PASSWORD))).isEqualTo("/console");
    }
  }

  @Test
  void formsAreNoLargerThanTheyMustBe() {
    try (Visitor stranger = new Visitor(port);
        Visitor bea = Visitor.loggedIn(port, "bea")) {
      assertThat(stranger.logIn("vera", "x".repeat(5_000)).statusCode()).isEqualTo(413);
      // Not even looked at.
      assertThat(Visitor.next(stranger.post("/console/bulk", Map.of("q", "x".repeat(100_000)))))
          .isEqualTo("/console/login");
      assertThat(bea.post("/console/bulk", Map.of("q", "x".repeat(1_100_000))).statusCode())
          .isEqualTo(413);
    }
  }

  @Test
  void onlyLanguagesThatThereAreCanBeChosen() {
    try (Visitor visitor = new Visitor(port)) {
      var unused = visitor.get("/console/login?lang=th-TH-u-ca-buddhist");
      assertThat(visitor.cookies())
          .extracting(HttpCookie::getName)
          .doesNotContain("punctual-language");
      assertThat(visitor.get("/console/login?lang=zh-CN").body()).contains("lang=\"zh-CN\"");
    }
  }

  @Test
  void whoIsWrongIsToldSoAndWhoGuessesIsMadeToWait() {
    try (Visitor visitor = new Visitor(port)) {
      String nobody = "nobody-" + UUID.randomUUID();
      for (int i = 0; i < 5; i++) {
        assertThat(visitor.logIn(nobody, "guess " + i).headers().firstValue("Location").orElse(""))
            .endsWith("?error=wrong");
      }
      assertThat(visitor.logIn(nobody, "guess").headers().firstValue("Location").orElse(""))
          .endsWith("?error=wait");
    }
  }

  @Test
  void aFormOfAnotherSiteDoesNothing() {
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      String cancel = "/console/jobs/shop/a/" + id + "/cancel";
      for (Map<String, String> fields :
          List.of(Map.<String, String>of(), Map.of("_csrf", UUID.randomUUID().toString()))) {
        assertThat(bea.bare(cancel, fields).statusCode()).isEqualTo(403);
      }
      assertThat(call("GET", "/api/v1/jobs/shop/a/" + id, "")).isEqualTo(200);
      assertThat(bea.get("/console/jobs/shop/a/" + id).body()).contains("delayed");
    }
  }

  @Test
  void pagesMayShowNothingOfOthersAndBeShownInNone() {
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      HttpResponse<String> page = bea.get("/console");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe");
      assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(page.body()).doesNotContain("<script>", "style=\"", "http://", "onclick");
    }
  }

  @Test
  void formsThatMakeNoSenseAreToldSoAndChangeNothing() {
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      String job = "/console/jobs/shop/a/" + id;
      String queue = "/console/queues/shop/a";
      var unused = bea.get(job);
      assertThat(bea.post(job + "/reschedule", Map.of("when", "soon")))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
          .satisfies(
              answer ->
                  assertThat(words(answer.body())).contains("&quot;soon&quot; is not a due time."))
          .satisfies(answer -> assertThat(answer.body()).contains("value=\"soon\""));
      assertThat(bea.post(queue + "/limits", Map.of("rate", "fast")).statusCode()).isEqualTo(400);
      assertThat(bea.post(queue + "/limits", Map.of("concurrency", "-1")).statusCode())
          .isEqualTo(400);
      assertThat(bea.post(queue + "/hours", Map.of("window", "Mon 9-20")).body())
          .contains("Mon-Fri 09:00-20:00");
      assertThat(bea.post(queue + "/purge", Map.of("state", "delayed", "name", "shop/b")).body())
          .contains("must be shop/a");
      assertThat(bea.post("/console/bulk", Map.of("q", "error:x", "action", "PURGE")).body())
          .contains("must have state:, type: or tag:");
      assertThat(bea.post(job + "/edit", Map.of("params", "x", "version", "\"old\"")).statusCode())
          .isEqualTo(412);
      for (String q :
          List.of(
              "4711 order",
              "state:failed",
              "from:last-week",
              "until:25:00",
              "from:-1h until:-2h",
              "at:a at:b",
              "tag:x tag:y",
              "error:" + LONG,
              "app:shop state:dead error:" + LONG,
              "app:shop type:x from:2031-01-01T00:00:00Z until:2030-01-01T00:00:00Z",
              "from:2031-01-01T00:00:00Z until:2030-01-01T00:00:00Z",
              "app:a*b state:dead")) {
        assertThat(bea.get("/console/jobs?q=" + Visitor.encoded(q)))
            .as(q)
            .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
            .satisfies(
                answer ->
                    assertThat(answer.body())
                        .contains("value=\"" + q + "\"", "id=\"search-wrong\"")
                        .doesNotContain("No job matches"));
      }
      assertThat(bea.get("/console/jobs?q=" + Visitor.encoded("state:bad")).body())
          .contains("There is no such state");
      String turned = "app:shop type:x from:2031-01-01T00:00:00Z until:2030-01-01T00:00:00Z";
      assertThat(bea.get("/console/jobs?q=" + Visitor.encoded(turned)).body())
          .contains("from: must not be later than until:");
      assertThat(bea.get("/console/jobs?q=" + Visitor.encoded("colour:red")))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(200))
          .satisfies(
              answer ->
                  assertThat(answer.body())
                      .contains("There is no word colour:", "known for ten minutes"));
      for (String sort : List.of("nothing", "--dead", "-")) {
        assertThat(bea.get("/console/queues?sort=" + sort).statusCode()).isEqualTo(400);
      }
      assertThat(bea.get("/console/queues?page=99999999999").statusCode()).isEqualTo(200);
      // What the framework finds by itself is a page, too.
      assertThat(bea.post("/console/bulk", Map.of("q", "x")))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
          .satisfies(answer -> assertThat(answer.body()).contains("<main", "could not be"));
      assertThat(call("GET", "/api/v1/jobs/shop/a/" + id, "")).isEqualTo(200);
    }
  }

  @Test
  void timesAreReadInTheViewersZoneAndShownInIt() {
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String search = "/console/jobs?q=" + Visitor.encoded("app:shop from:2031-11-28 until:");
      assertThat(words(otto.get(search + Visitor.encoded("\"2031-11-29 14:00\"")).body()))
          .contains(" due: 2031-11-28 00:00 to 2031-11-29 14:00 (UTC) ");
      // What no browser says.
      otto.keep("punctual-zone", "Nowhere/At<b>all");
      assertThat(words(otto.get(search + "2031-11-28").body()))
          .contains(" due: 2031-11-28 00:00 to 2031-11-28 24:00 (UTC) ");
      otto.keep("punctual-zone", "Asia/Shanghai");
      assertThat(words(otto.get(search + "2031-11-28T15:00:00Z").body()))
          .contains(" due: 2031-11-28 00:00 to 2031-11-28 23:00 (UTC+8) ");
      assertThat(words(otto.get("/console/jobs?lang=zh-CN&q=until:2031-11-28").body()))
          .contains(" 到期时间：不晚于 2031-11-28 24:00（UTC+8） ");

      String job = "/console/jobs/shop/a/" + id;
      assertThat(otto.post(job + "/reschedule", Map.of("when", "2035-01-31 9:00")).statusCode())
          .isEqualTo(302);
      assertThat(api.call("GET", "/api/v1/jobs/shop/a/" + id, "", ADMIN).body().at("/dueAt"))
          .hasToString("\"2035-01-31T01:00:00Z\"");
      String preview =
          Visitor.next(
              otto.post(
                  "/console/bulk",
                  Map.of(
                      "q",
                      "app:shop type:a from:2035-01-31 until:2035-01-31",
                      "action",
                      "RESCHEDULE",
                      "when",
                      "2036-01-31 9:00")));
      assertThat(words(otto.get(preview + "?lang=en").body()))
          .contains("2036-01-31 9:00 (2036-01-31 09:00 UTC+8)", "1 job matches");
      Map<String, String> seen = new HashMap<>(Map.of("action", "CANCEL"));
      seen.put("q", "app:shop type:a from:tomorrow until:tomorrow");
      seen.put("at", "2035-01-30T12:00:00+08:00[Asia/Shanghai]");
      assertThat(otto.get(Visitor.next(otto.post("/console/bulk", seen))).body())
          .contains("1 job matches");
      seen.put("at", "just now");
      assertThat(otto.post("/console/bulk", seen).statusCode()).isEqualTo(400);
    }
  }

  @Test
  void whatStrangersSayInTheRegistryIsTextAndBreaksNoPage(CapturedOutput output) {
    Visitor otto = visitors.computeIfAbsent("otto", any -> Visitor.loggedIn(port, any));
    HttpResponse<String> workers = otto.get("/console/workers");
    assertThat(workers.statusCode()).isEqualTo(200);
    assertThat(workers.body())
        .contains(
            "http://&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u27E8U+000A\u27E92026-01-01",
            "strange\u27E8U+200B\u27E9",
            "http://127.0.0.1:8080",
            "scheduler-1")
        .doesNotContain("<script>", "\u200b", "\u202e", "\u2066", "shop-strange", "shop-turned")
        .endsWith("</html>\n");

    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(otto.get("/console/doctor").body())
                    .contains("shop-strange", "its host must be", "shop-turned", "a?b?")
                    .doesNotContain("<script>", "\u202e", "\u2066")
                    .endsWith("</html>\n"));
    assertThat(output.getAll()).doesNotContain("\n2026-01-01T00:00:00Z INFO punctual.audit");
  }

  @Test
  void whatTurnsTextAroundInAnErrorIsShownAsACodeAndIsInNoSearch() {
    submit("turned", id, "0s", "");
    String claim = "{\"application\":\"shop\",\"taskTypes\":[\"turned\"],\"wait\":10000}";
    String token =
        api.call("POST", "/api/v1/claims", claim, ADMIN).body().at("/jobs/0/token").asString();
    assertThat(
            call(
                "POST",
                "/api/v1/claims/" + token + "/reject",
                "{\"error\":\"order 4711 \u202Erefused by the bank, 9 times\"}"))
        .isEqualTo(200);
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(bea.get("/console/dead").body())
                      .contains(
                          "order 4711 \u27E8U+202E\u27E9refused by the bank, 9 times",
                          // The longer piece holds what is not seen.
                          "type:turned state:dead error:&quot;order&quot;")
                      .doesNotContain("\u202e", "%E2%80%AE"));
    }
  }

  private void die(String type, String job, String error) {
    dieAt("anywhere", type, job, error);
  }

  private void dieAt(String worker, String type, String job, String error) {
    submit(type, job, "0s", "");
    String claim =
        "{\"application\":\"shop\",\"taskTypes\":[\"%s\"],\"wait\":10000,\"worker\":\"%s\"}";
    String token =
        api.call("POST", "/api/v1/claims", claim.formatted(type, worker), ADMIN)
            .body()
            .at("/jobs/0/token")
            .asString();
    String reject = "/api/v1/claims/" + token + "/reject";
    assertThat(
            call("POST", reject, "{\"error\":\"%s\",\"worker\":\"%s\"}".formatted(error, worker)))
        .isEqualTo(200);
  }

  @Test
  void theNewestDeadLettersComeFirstWhateverTheirQueue() {
    die("first.dies", "one", "ledger 17 is locked");
    die("then.dies", "two", "ledger 18 is locked");
    die("first.dies", "three", "no ledger");
    String search = "state:dead app:shop error:ledger";
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(bea.get("/console/jobs?q=" + Visitor.encoded(search)).body())
                      .containsSubsequence(
                          "jobs/shop/first.dies/three\"",
                          "jobs/shop/then.dies/two\"",
                          "jobs/shop/first.dies/one\""));
      // A search looks into queues that no sample knows yet; this page waits for one.
      Awaitility.await().until(() -> bea.get("/console/dead").body().contains("ledger 18 is"));
      String page = bea.get("/console/dead").body();
      assertThat(page)
          .containsSubsequence("no ledger", "ledger 18 is locked")
          .doesNotContain("ledger 17 is locked")
          // One group, whose work is one search for each queue.
          .contains(
              "app:shop type:first.dies state:dead error:&quot;is locked&quot;\n"
                  + "app:shop type:then.dies state:dead error:&quot;is locked&quot;");
      assertThat(words(bea.get("/console").body()))
          .containsPattern("urgent|to look at")
          .containsPattern("dead letters in \\d+ queues, \\d+ of them in the last hour");
      assertThat(bea.get("/console/dead?sort=most").body())
          .containsSubsequence("ledger 18 is locked", "no ledger");
      String group =
          "app:shop type:first.dies state:dead error:\"is locked\"\r\n"
              + "app:shop type:then.dies state:dead error:\"is locked\"";
      var preview =
          bea.get(Visitor.next(bea.post("/console/bulk", Map.of("q", group, "action", "REQUEUE"))));
      assertThat(preview.body()).contains("2 jobs match");
    }
  }

  @Test
  void anInstanceIsNamedOnlyWhereItStandsOutFromTheOthers() {
    for (int i = 0; i < 4; i++) {
      dieAt("even-" + i % 2, "dies.alike", "e" + i, "the disk is full");
      dieAt(i < 3 ? "odd-1" : "odd-2", "dies.apart", "o" + i, "the cable is cut");
    }
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(bea.get("/console/dead").body()))
                      .contains("the disk is full", "the cable is cut")
                      .contains("75 % of them at odd-1")
                      .doesNotContain("of them at even-"));
    }
  }

  @Test
  void allThatMatchIsOneOperationInAllQueues() {
    die("across.one", "x1", "AcrossException: full");
    die("across.one", "x2", "AcrossException: full");
    die("across.two", "x3", "AcrossException: full");
    die("across.two", "other", "another");
    submit("across.bad", "x4", "1h", "");
    byte[] dead = (prefix + ":{shop:across.bad:0}:dead").getBytes(StandardCharsets.UTF_8);
    try (RedisConnection redis = connections.getConnection()) {
      redis.stringCommands().set(dead, dead);
    }
    try (Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      String search = "state:dead error:AcrossException from:-1h";
      assertThat(otto.get("/console/jobs?q=" + Visitor.encoded(search)).body())
          .contains("Do something to all that match");
      Map<String, String> form = Map.of("q", search, "action", "REQUEUE");
      var unused = vera.get("/console/jobs");
      assertThat(vera.post("/console/bulk", form).statusCode()).isEqualTo(403);
      String preview = Visitor.next(otto.post("/console/bulk", form));
      assertThat(words(otto.get(preview).body()))
          .contains(
              "3 jobs match.",
              "Requeue 3 jobs",
              "damaged: shop/across.bad",
              "shop/across.one 2 2 waits again shop/across.two 1 1 waits again");
      String work = Visitor.next(otto.post(preview + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(work).body().contains("class=\"tag done\""));
      assertThat(words(otto.get(work).body()))
          .contains("done 3 of 3 jobs", search, "damaged: shop/across.bad");
      for (String job : List.of("one/x1", "one/x2", "two/x3", "two/other")) {
        assertThat(api.call("GET", "/api/v1/jobs/shop/across." + job, "", ADMIN).at("/state"))
            .isEqualTo(job.endsWith("other") ? "dead" : "delayed");
      }
      String audited =
          words(otto.get("/console/audit?action=requeue&target=AcrossException").body());
      assertThat(audited).containsPattern("done, 3 jobs \\{requeued=3}.* begun");
      assertThat(audited.split("requeue many state:dead", -1)).hasSize(3);
    } finally {
      try (RedisConnection redis = connections.getConnection()) {
        redis.keyCommands().del(dead);
      }
    }
  }

  @Test
  void anOperationThatTakesMoreThanItsPreviewFoundSaysSo() {
    submit("grows", "one", "1h", "");
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      var unused = otto.get("/console/jobs");
      Map<String, String> form =
          Map.of("q", "app:shop type:grows state:delayed", "action", "CANCEL");
      String preview = Visitor.next(otto.post("/console/bulk", form));
      assertThat(words(otto.get(preview).body())).contains("Cancel 1 job");
      submit("grows", "two", "1h", "");
      String work = Visitor.next(otto.post(preview + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(work).body().contains("class=\"tag done\""));
      assertThat(words(otto.get(work).body())).contains("done 2 of 2 jobs");
    }
  }

  @Test
  void aPageOfLongErrorsIsSmall() {
    // As a worker answers that gets one job a call, with its stack trace.
    String error =
        "HTTP 500 from http://shop-%s.example:8080/callback: java.lang.IllegalStateException: order"
            + " %d has no coupon, and none can be found for it in any of the catalogues of this"
            + " year"
            + " at com.example.shop.order.OrderCloser.close(OrderCloser.java:117)".repeat(9);
    for (int i = 0; i < 50; i++) {
      die("heavy", "order-" + i, error.formatted(i % 2 == 0 ? "a" : "b", i));
    }
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String page =
          otto.get("/console/jobs?q=" + Visitor.encoded("app:shop type:heavy state:dead")).body();
      assertThat(words(page))
          .contains("order-0 ", "order-49 ", "of the catalogues of this year IllegalStateException")
          .doesNotContain("callback", "OrderCloser");
      assertThat(page.length()).isLessThan(60_000);
      // Two instances that answer so have one error.
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(otto.get("/console/dead").body()))
                      .containsPattern("shop/heavy 50 50 "));
      Matcher all =
          Pattern.compile("href=\"([^\"]*heavy[^\"]*error:[^\"]*)\"")
              .matcher(otto.get("/console/dead").body());
      assertThat(all.find()).isTrue();
      assertThat(words(otto.get(all.group(1).replace("&quot;", "%22")).body()))
          .contains("order-0 ", "order-49 ");
    }
  }

  @Test
  void aPurgeAndALargeCancelBeginOnceTheNumberOfJobsWasTyped() {
    for (int from : List.of(0, 501)) {
      String jobs =
          IntStream.range(from, from == 0 ? 501 : 1_001)
              .mapToObj(
                  i ->
                      "{\"application\":\"shop\",\"taskType\":\"typed\",\"taskId\":\"t%d\",\"delay\":\"1h\"}"
                          .formatted(i))
              .collect(Collectors.joining(","));
      assertThat(call("POST", "/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}")).isEqualTo(200);
    }
    String search = "app:shop type:typed";
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      var unused = bea.get("/console/jobs");
      for (String action : List.of("PURGE", "CANCEL")) {
        String preview =
            Visitor.next(bea.post("/console/bulk", Map.of("q", search, "action", action)));
        assertThat(words(bea.get(preview).body())).contains("type the number of jobs: 1,001");
        for (String number : List.of("", "1000", "<b>1,001</b>")) {
          HttpResponse<String> refused =
              bea.post(preview + "/begin", Map.of("number", number, "perSecond", "77"));
          assertThat(refused.statusCode()).as(number).isEqualTo(400);
          assertThat(refused.body())
              .contains("id=\"number-wrong\"", "is not 1,001. Nothing was changed.", search)
              .contains("value=\"77\"")
              .doesNotContain("<b>1,001");
        }
        assertThat(waiting("typed")).isEqualTo(1_001);
        if (action.equals("CANCEL")) {
          String work = Visitor.next(bea.post(preview + "/begin", Map.of("number", " 1,001")));
          // Pressed twice.
          assertThat(Visitor.next(bea.post(preview + "/begin", Map.of("number", "1001"))))
              .isEqualTo(work);
          Awaitility.await().until(() -> bea.get(work).body().contains("class=\"tag done\""));
          assertThat(words(bea.get(work).body())).contains("1,001 of 1,001 jobs");
        }
      }
      assertThat(waiting("typed")).isZero();
      // A small cancel wants no number, and an operator begins it.
      submit("typed", "one", "1h", "");
      String small =
          Visitor.next(bea.post("/console/bulk", Map.of("q", search, "action", "CANCEL")));
      assertThat(bea.get(small).body()).doesNotContain("name=\"number\"");
    }
  }

  @Test
  void anOperationWhoseSchedulerEndedIsInterruptedAndLeadsBackToItsSearch() {
    String work = "interrupted-" + id;
    String record =
        "{\"id\":\"%s\",\"action\":\"purge\",\"about\":\"shop/gone\",\"searches\":[\"app:shop type:gone <b>\"],\"checked\":[],\"unnamed\":0,\"when\":\"\",\"operator\":\"ada\",\"scheduler\":\"scheduler-9:8080\",\"perSecond\":5,\"begun\":\"2026-01-01T00:00:00Z\",\"ended\":null,\"state\":\"running\",\"total\":9000,\"more\":false,\"outcomes\":{\"purged\":1234},\"error\":null,\"seen\":%d}";
    try (RedisConnection redis = connections.getConnection();
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      Long now = redis.serverCommands().time();
      String damaged = record.replace("2026-01-01T00:00:00Z", "long ago").formatted("odd", now);
      List<String> oddities = List.of(damaged, "null", "[]", record.formatted("other", now));
      for (int i = 0; i < oddities.size(); i++) {
        redis
            .hashCommands()
            .hSet(
                (prefix + ":operations").getBytes(StandardCharsets.UTF_8),
                (i == 0 ? "odd" : "odd" + i).getBytes(StandardCharsets.UTF_8),
                oddities.get(i).getBytes(StandardCharsets.UTF_8));
      }
      for (boolean silent : List.of(false, true)) {
        redis
            .hashCommands()
            .hSet(
                (prefix + ":operations").getBytes(StandardCharsets.UTF_8),
                work.getBytes(StandardCharsets.UTF_8),
                record
                    .formatted(work, silent ? now - 31_000 : now)
                    .getBytes(StandardCharsets.UTF_8));
        String page = vera.get("/console/operations/" + work).body();
        assertThat(words(page)).contains("1,234 of 9,000 jobs", "By ada", "scheduler-9:8080");
        assertThat(words(page).contains("The scheduler scheduler-9:8080 ended")).isEqualTo(silent);
        assertThat(page.contains("q=app:shop%20type:gone%20%3Cb%3E")).isEqualTo(silent);
        assertThat(words(vera.get("/console/operations").body()))
            .contains(
                "shop/gone ada 2026-01-01T00:00:00Z "
                    + (silent ? "interrupted" : "running")
                    + " 1,234");
        assertThat(head(vera, "/console/operations"))
            .matches(
                silent
                    ? "(No|One|\\d+) operations? (is|are) under way; [\\d,]+ of \\d+ failed or w(as|ere) interrupted"
                    : "(One operation is|\\d+ operations are) under way; .+ failed or w(as|ere) interrupted");
      }
      assertThat(vera.get("/console/operations/none").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void checkedQueuesArePausedLimitedAndResumedTogether() {
    for (String type : List.of("sel.a", "sel.b", "sel.c")) {
      submit(type, "one", "1h", "");
    }
    List<Map.Entry<String, String>> two =
        List.of(
            Map.entry("queue", "shop/sel.a"),
            Map.entry("queue", "shop/sel.b"),
            Map.entry("q", "shop/sel."),
            Map.entry("sort", "-name"));
    try (Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      Awaitility.await()
          .until(() -> otto.get("/console/queues?q=sel.").body().contains("value=\"shop/sel.c\""));
      assertThat(vera.get("/console/queues?q=sel.").body())
          .contains("sel.c")
          .doesNotContain("form=\"checked\"", "data-check-all", "id=\"checked\"");
      assertThat(vera.post("/console/queues", with(two, "act", "pause")).statusCode())
          .isEqualTo(403);

      List<Map.Entry<String, String>> pause = with(two, "act", "pause");
      pause = with(with(pause, "reason", "deploy <2>"), "for", "30m");
      String list = Visitor.next(otto.post("/console/queues", pause));
      assertThat(list).isEqualTo("/console/queues?q=shop%2Fsel.&sort=-name");
      assertThat(words(otto.get(list).body())).contains("The queues are paused.");
      JsonNode paused = queue("sel.b").at("/pauses/0");
      assertThat(paused.get("reason").asString()).isEqualTo("deploy <2>");
      assertThat(paused.get("by").asString()).isEqualTo("otto");
      assertThat(paused.get("until").isNull()).isFalse();
      assertThat(queue("sel.a").at("/pauses")).hasSize(1);
      assertThat(queue("sel.c").at("/pauses")).isEmpty();
      assertThat(words(otto.get("/console/audit?action=pause&target=sel.").body()))
          .contains("pause shop/sel.a", "pause shop/sel.b")
          .doesNotContain("shop/sel.c");

      List<Map.Entry<String, String>> limit = with(with(two, "act", "limit"), "concurrency", "7");
      list = Visitor.next(otto.post("/console/queues", with(limit, "rate", "50/m")));
      assertThat(words(otto.get(list).body())).contains("The limits hold");
      assertThat(queue("sel.a").at("/limits").toString())
          .isEqualTo("{\"concurrency\":7,\"rate\":\"50/m\"}");
      // What is left empty stays, and a word removes.
      list =
          Visitor.next(
              otto.post("/console/queues", with(with(two, "act", "limit"), "rate", "60/m")));
      assertThat(words(otto.get(list).body())).contains("The limits hold");
      assertThat(queue("sel.a").at("/limits").toString())
          .isEqualTo("{\"concurrency\":7,\"rate\":\"60/m\"}");
      limit = with(with(two, "act", "limit"), "concurrency", "none");
      list = Visitor.next(otto.post("/console/queues", limit));
      assertThat(words(otto.get(list).body())).contains("The limits hold");
      assertThat(queue("sel.b").at("/limits/concurrency").isNull()).isTrue();
      assertThat(queue("sel.b").at("/limits/rate").asString()).isEqualTo("60/m");
      // A queue that is not known does not keep the others from it.
      List<Map.Entry<String, String>> resume = new ArrayList<>();
      resume.add(Map.entry("queue", "shop/sel.none"));
      resume.addAll(with(two, "act", "resume"));
      assertThat(words(otto.get(Visitor.next(otto.post("/console/queues", resume))).body()))
          .contains(
              "Failed for these queues; done for all other checked queues: shop/sel.none: no queue shop/sel.none is known")
          .doesNotContain("The queues are resumed");
      assertThat(queue("sel.a").at("/pauses")).isEmpty();
      assertThat(queue("sel.b").at("/pauses")).isEmpty();

      for (List<Map.Entry<String, String>> wrong :
          List.of(
              List.of(Map.entry("act", "pause")),
              with(two, "act", "purge"),
              with(with(two, "act", "pause"), "for", "soon"),
              with(with(two, "act", "pause"), "reason", LONG),
              with(with(two, "act", "limit"), "rate", "fast"),
              with(two, "act", "limit"),
              List.of(Map.entry("act", "pause"), Map.entry("queue", "shop")))) {
        assertThat(otto.post("/console/queues", wrong).statusCode())
            .as(wrong.toString())
            .isEqualTo(400);
      }
      assertThat(queue("sel.a").at("/pauses")).isEmpty();
    }
  }

  private static List<Map.Entry<String, String>> with(
      List<Map.Entry<String, String>> form, String name, String value) {
    List<Map.Entry<String, String>> more = new ArrayList<>(form);
    more.add(Map.entry(name, value));
    return more;
  }

  private JsonNode queue(String type) {
    return api.call("GET", "/api/v1/queues/shop/" + type, "", ADMIN).body();
  }

  @Test
  void manyJobsAreCancelledAsFastAsWasSaidUntilSomebodyStopsIt() {
    for (int i = 0; i < 30; i++) {
      submit("bulk", "b" + i, "1h", "");
    }
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String search = "app:shop type:bulk state:delayed";
      var unused = otto.get("/console/jobs?q=" + Visitor.encoded(search));
      String preview =
          Visitor.next(otto.post("/console/bulk", Map.of("q", search, "action", "CANCEL")));
      assertThat(otto.get(preview).body()).contains("30 jobs match", "b0");
      assertThat(otto.get("/console/queues/shop/bulk").body()).contains("<b>30</b>");
      String slow = Visitor.next(otto.post(preview + "/begin", Map.of("perSecond", "1")));
      Awaitility.await().until(() -> otto.get(slow).body().contains("running"));
      assertThat(otto.post(slow + "/stop", Map.of()).statusCode()).isEqualTo(302);
      Awaitility.await().until(() -> otto.get(slow).body().contains("stopped"));
      String rest = Visitor.next(otto.post(preview + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(rest).body().contains("class=\"tag done\""));
      assertThat(otto.get("/console/jobs?q=" + Visitor.encoded(search)).body())
          .contains("No job matches");
      // One entry for each beginning and each end, and none for a page.
      String found = "/console/audit?operator=OTTO&action=cancel+many&target=type%3Abulk";
      String audited = words(otto.get(found).body());
      assertThat(audited)
          .containsPattern(
              "done, 30 jobs \\{cancelled=30}.* begun.* stopped, .* begun, 1 jobs a second");
      assertThat(audited).contains("asked to stop");
      assertThat(audited.split("cancel many " + search, -1)).hasSize(6);
      assertThat(otto.get(found).body()).contains("href=\"" + slow + "\"");
      assertThat(head(otto, found)).isEqualTo("5 entries match");
      assertThat(head(otto, "/console/audit"))
          .matches("(At least )?[\\d,]+ entries in the last 24 hours, by .+ operators?( or more)?");
      assertThat(words(otto.get(found + "&until=2020-01-01T00:00:00Z").body()))
          .contains("No entry matches.");
      assertThat(otto.get(found + "&from=yesterday").statusCode()).isEqualTo(400);
      // Who may not purge by hand may not purge many.
      assertThat(otto.post("/console/bulk", Map.of("q", search, "action", "PURGE")).statusCode())
          .isEqualTo(403);
    }
  }

  @Test
  void manyPagesOfJobsAreMovedOnceToOneTimeHoweverOftenTheButtonIsPressed() {
    String jobs =
        IntStream.range(0, 450)
            .mapToObj(
                i ->
                    "{\"application\":\"shop\",\"taskType\":\"moved\",\"taskId\":\"m%d\",\"delay\":\"%s\"}"
                        .formatted(i, i % 2 == 0 ? "1m" : "2h"))
            .collect(Collectors.joining(","));
    assertThat(call("POST", "/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}")).isEqualTo(200);
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String search = "app:shop type:moved";
      var unused = otto.get("/console/jobs?q=" + Visitor.encoded(search));
      String preview =
          Visitor.next(
              otto.post(
                  "/console/bulk", Map.of("q", search, "action", "RESCHEDULE", "when", "10m")));
      Map<String, String> slow = Map.of("perSecond", "199");
      String work = Visitor.next(otto.post(preview + "/begin", slow));
      assertThat(Visitor.next(otto.post(preview + "/begin", slow))).isEqualTo(work);

      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> otto.get(work).body().contains("class=\"tag done\""));
      assertThat(otto.get(work).body()).contains("<b>450</b>");
    }
    JsonNode first = job("m0");
    assertThat(job("m449").get("dueAt")).isEqualTo(first.get("dueAt"));
  }

  private JsonNode job(String id) {
    return api.call("GET", "/api/v1/jobs/shop/moved/" + id, "", ADMIN).body();
  }

  @Test
  void aPreviewHasAnAddressOfItsOwnForThoseWhoMayDoWhatItShows() {
    submit("before", "one", "1h", "");
    Map<String, String> purge = Map.of("q", "app:shop type:before", "action", "PURGE");
    try (Visitor bea = Visitor.loggedIn(port, "bea");
        Visitor otto = Visitor.loggedIn(port, "otto")) {
      String preview = Visitor.next(bea.post("/console/bulk", purge));
      // As often as one likes, and in whatever language.
      assertThat(bea.get(preview).body()).contains("1 job matches", "Purge 1 job<");
      assertThat(bea.get(preview + "?lang=zh-CN").body()).contains("匹配 1 个任务", "lang=en");
      assertThat(otto.get(preview).statusCode()).isEqualTo(403);
      assertThat(otto.post(preview + "/begin", Map.of()).statusCode()).isEqualTo(403);
      assertThat(bea.get("/console/bulk/none"))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(404))
          .satisfies(answer -> assertThat(answer.body()).contains("no such operation"));
      assertThat(call("GET", "/api/v1/jobs/shop/before/one", "")).isEqualTo(200);
    }
  }

  @Test
  void theLivePartOfAPageLeavesWhatAnActIsAnsweredWithToThePage() {
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      submit("told", id, "1h", "");
      String page = Visitor.next(otto.post("/console/jobs/shop/told/" + id + "/run", Map.of()));
      String told = "class=\"told\"";

      assertThat(otto.get(page, "HX-Request", "true").body()).doesNotContain(told);
      assertThat(otto.get(page).body()).contains(told);
      assertThat(otto.get(page).body()).doesNotContain(told);
    }
  }

  /** A point of the history: so many jobs done in the ten seconds that ended so long ago. */
  private static String point(long now, int ago, int done) {
    return now - ago * 10_000L + " 10000 0 " + done + " 0 0 0 0 0 - -";
  }

  @Test
  void theOverviewDrawsThePastAndItsGaps() {
    String key = prefix + ":history";
    long now = System.currentTimeMillis();
    redis.delete(List.of(key, key + ":marks"));
    // Behind what the scheduler itself samples meanwhile; nothing in an hour before the last half.
    IntStream.range(200, 600)
        .filter(ago -> ago < 260 || ago >= 500)
        .forEach(ago -> redis.opsForList().rightPush(key, point(now, ago, 7_000)));
    redis.opsForList().rightPush(key, "what <b>another</b> program wrote");
    redis.opsForList().rightPush(key + ":marks", now - 2_400_000 + " release shop <i>2.15.0</i>");
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      vera.keep("punctual-zone", "Asia/Shanghai");
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(vera.get("/console?range=6h&ahead=1h").body())
                      .contains(
                          "class=\"gap\"",
                          "1,120,00",
                          "Grey: no data, because no scheduler was sampling.",
                          "One entry of the history in Redis cannot be read and is left out.",
                          "new release:",
                          "shop &lt;i&gt;2.15.0&lt;/i&gt;",
                          "◆",
                          "Time (UTC+8)",
                          ">no data<",
                          "href=\"/console?range=24h&amp;ahead=1h\"",
                          "aria-current=\"true\">6 h</a>",
                          "due within one minute.")
                      .doesNotContain("<i>2.15.0", "another"));
      String page = vera.get("/console?range=6h").body();
      assertThat(page.split("<polyline class=\"done\"", -1))
          .as("a line on each side of the gap")
          .hasSizeGreaterThan(2);
      assertThat(vera.get("/console/charts?range=6h").body())
          .startsWith("<div id=\"charts\"")
          .doesNotContain("<main");
      assertThat(vera.get("/console?part=live").body()).doesNotContain("id=\"charts\"");
      assertThat(vera.get("/console?range=none&ahead=none&lang=zh-CN").body())
          .contains("aria-current=\"true\">1 小时</a>", "个任务到期");
      vera.get("/console?lang=en");
    } finally {
      redis.delete(List.of(key, key + ":marks"));
    }
  }

  @Test
  void loadBeyondWhatWasEverDoneAndBeyondALimitIsSaid() {
    for (int i = 0; i < 3; i++) {
      submit("ahead", id + "-" + i, "30m", "");
    }
    assertThat(call("PUT", "/api/v1/queues/shop/ahead/limits", "{\"rate\":\"1/h\"}"))
        .isEqualTo(200);
    statistics.changed();
    long now = System.currentTimeMillis();
    String own = prefix + "-ahead";
    IntStream.range(0, 30)
        .forEach(
            ago ->
                redis.opsForList().rightPush(own + ":history", point(now, ago, ago == 9 ? 2 : 0)));
    LoadAhead.Load load =
        new LoadAhead(queues, statistics, new History(redis, own)).get(LoadAhead.Ahead.HOUR);
    LoadChart chart = new LoadChart(load, ZoneOffset.UTC, Locale.ENGLISH);

    assertThat(load.most()).isEqualTo(2);
    assertThat(chart.getPeak()).isNotNull();
    assertThat(chart.getPeak().jobs()).isGreaterThanOrEqualTo(3);
    assertThat(chart.getPeak().beyond()).isTrue();
    assertThat(chart.getBars()).anyMatch(bar -> bar.time().matches("\\d\\d:\\d\\d"));
    assertThat(load.limited())
        .filteredOn(limited -> limited.queue().queue().taskType().equals("ahead"))
        .singleElement()
        // An hour for each, less the part of it that goes by until the minute is over.
        .satisfies(limited -> assertThat(limited.minutes()).isBetween(178L, 180L))
        .satisfies(limited -> assertThat(limited.rate()).hasToString("1/h"));
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String page = vera.get("/console/queues/shop/ahead?ahead=24h").body();
      assertThat(words(page))
          .contains("Its rate lets at most one job start within 30 minutes.")
          .contains("At its rate, jobs would start up to");
      assertThat(page).contains("q=app:shop%20type:ahead%20from:", "ahead?ahead=168h");
      assertThat(vera.get("/console/queues/shop/ahead", "HX-Request", "true").body())
          .doesNotContain("plot load");
    }
    redis.delete(own + ":history");

    LoadAhead.Load unknown =
        new LoadAhead(queues, statistics, new History(redis, own)).get(LoadAhead.Ahead.WEEK);
    assertThat(unknown.most()).isNull();
    assertThat(new LoadChart(unknown, ZoneOffset.UTC, Locale.ENGLISH).getLine()).isNull();
  }

  @Test
  void aBurstWithinHalfAnHourMakesALimitedQueueLate() {
    for (int i = 0; i < 30; i++) {
      submit("burst", id + "-" + i, "40m", "");
    }
    // In half an hour they could all start, in the minutes after they are due they cannot.
    assertThat(call("PUT", "/api/v1/queues/shop/burst/limits", "{\"rate\":\"90/h\"}"))
        .isEqualTo(200);
    statistics.changed();
    LoadAhead.Load load =
        new LoadAhead(queues, statistics, new History(redis, prefix)).get(LoadAhead.Ahead.DAY);

    assertThat(load.limited())
        .filteredOn(limited -> limited.queue().queue().taskType().equals("burst"))
        .singleElement()
        .satisfies(limited -> assertThat(limited.minutes()).isBetween(12L, 20L));
  }

  @Test
  void theLoadIsPartedByItsFiveLargestQueues() {
    for (int queue = 1; queue <= 7; queue++) {
      for (int i = 0; i < queue; i++) {
        submit("stack." + queue, id + "-" + i, "20m", "");
      }
    }
    statistics.changed();
    LoadAhead.Load load =
        new LoadAhead(queues, statistics, new History(redis, prefix)).get(LoadAhead.Ahead.HOUR);

    assertThat(load.parts()).hasSize(6);
    assertThat(load.parts().subList(0, 5))
        .isSortedAccordingTo(Comparator.comparingLong(LoadAhead.Part::jobs).reversed())
        .allMatch(part -> part.queue() != null);
    assertThat(load.parts().get(5).queue()).isNull();
    for (int i = 0; i < load.counts().size(); i++) {
      int interval = i;
      assertThat(load.parts().stream().mapToLong(part -> part.counts().get(interval)).sum())
          .isGreaterThanOrEqualTo(load.counts().get(i));
    }
    // Queues are read a moment after the total. A job may then count in the interval before.
    long all = load.counts().stream().mapToLong(Long::longValue).sum();
    assertThat(load.parts().stream().mapToLong(LoadAhead.Part::jobs).sum())
        .isBetween(all, all + 60);
    LoadChart chart = new LoadChart(load, ZoneOffset.UTC, Locale.ENGLISH);
    assertThat(chart.getStacks()).extracting(LoadChart.Stack::kind).endsWith("q5", "rest");
    assertThat(chart.getStacks()).allMatch(stack -> stack.path().startsWith("M"));
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      Awaitility.await()
          .untilAsserted(
              () -> {
                String page = vera.get("/console").body();
                assertThat(page).contains("class=\"legend\"", "class=\"q5\"");
                assertThat(words(page)).contains("other queues");
                assertThat(page.length()).isLessThan(60_000);
              });
    }
  }

  @Test
  void aHistoryThatIsNoListIsSaidAndTheRestOfThePageStays() {
    String key = prefix + ":history";
    redis.delete(key);
    redis.opsForValue().set(key, "foreign");
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(vera.get("/console?range=15m").body())
                      .contains("The history cannot be read:", "WRONGTYPE", "class=\"cards\""));
    } finally {
      redis.delete(key);
    }
  }

  @Test
  void theOtherLanguageIsThatOfTheSamePage() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String search = Visitor.encoded("app:shop state:dead");
      assertThat(vera.get("/console/jobs?q=" + search + "&lang=en").body())
          .contains("href=\"?q=" + search + "&amp;lang=zh-CN\"");
      // A form's answer has no address that could be asked for again.
      assertThat(vera.post("/console/queues/shop/a/pause", Map.of()).body())
          .contains("<main")
          .doesNotContain("lang=zh-CN");
    }
  }

  @Test
  void whereNothingIsAPageSaysSoAndWhereToGo() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      for (String path : List.of("/console/nowhere", "/console/queues/shop", "/console/jobs/a/b")) {
        HttpResponse<String> answer = vera.get(path);
        assertThat(answer.statusCode()).as(path).isEqualTo(404);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/html");
        assertThat(answer.body())
            .contains("There is no page at " + path, "href=\"/console/queues\"");
        assertThat(vera.get(path + "?lang=zh-CN").body()).contains(path + " 处没有页面", "lang=en");
        assertThat(vera.get(path + "?lang=en").body()).contains("There is no page");
      }
      assertThat(vera.get("/console/bulk"))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(405))
          .satisfies(answer -> assertThat(answer.headers().firstValue("Allow")).contains("POST"))
          .satisfies(
              answer -> assertThat(answer.body()).contains("<main", "takes only what a form"));
      // The API's answers stay what they were.
      assertThat(api.call("GET", "/api/v1/nowhere", "", ADMIN).body().at("/code").asString())
          .isEqualTo("not-found");
    }
  }

  @Test
  void aQueueShowsHowLateItsJobsBeganAndWhoRunsThem() {
    submit("unbegun", "later", "1h", "");
    submit("held", "now", "0s", "");
    submit("begun", "now", "0s", "");
    String claim = "{\"application\":\"shop\",\"taskTypes\":[\"begun\"],\"wait\":10000}";
    assertThat(api.call("POST", "/api/v1/claims", claim, ADMIN).body().get("jobs")).hasSize(1);
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(vera.get("/console/queues/shop/held").body()))
                      .containsPattern("shop-holding – well (–|\\d+ %) [1-7] of 7 1\\.2\\.3")
                      .doesNotContain("shop-gone"));
      assertThat(words(vera.get("/console/queues/shop/begun").body()))
          .contains(" ms lateness p50 / p99 here")
          .doesNotContain("figures of their own");
      assertThat(words(vera.get("/console/queues/shop/unbegun").body()))
          .contains("– lateness p50 / p99 here", "No instance of shop is registered");
      assertThat(words(vera.get("/console/queues/shop/held?lang=zh-CN").body()))
          .contains("本机延迟")
          .containsPattern("shop-holding – 正常 (–|\\d+ ?%) [1-7] / 7 1\\.2\\.3");
    }
  }

  @Test
  void headingsSortAndNumbersInNamesCount() {
    for (String type : List.of("night.2", "night.10", "night.1")) {
      submit(type, "one", type.equals("night.2") ? "5h" : "9h", "");
    }
    submit("night.10", "two", "8h", "");
    String name = "com.acme.billing.invoices.InvoiceReminder";
    submit(name, "one", "1h", "");
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String path = "/console/queues?q=night.&sort=";
      // Queues are looked at every two seconds.
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(vera.get(path + "delayed").body())
                      .containsSubsequence("/night.10\"", "/night.1\"", "/night.2\"")
                      .containsPattern(
                          "aria-sort=\"descending\"><a href=\"[^\"]*sort=-delayed\">delayed<"));
      String page = vera.get(path + "name").body();
      assertThat(page)
          .containsSubsequence("/night.1\"", "/night.2\"", "/night.10\"")
          .containsPattern("aria-sort=\"ascending\"><a href=\"[^\"]*sort=-name\">Queue<")
          .containsPattern("<th class=\"n\"><a href=\"[^\"]*sort=delayed\">delayed<");
      assertThat(vera.get(path + "-name").body())
          .containsSubsequence("/night.10\"", "/night.2\"", "/night.1\"")
          .containsPattern("aria-sort=\"descending\"><a href=\"[^\"]*sort=name\">Queue<");
      assertThat(vera.get(path + "next").body())
          .containsSubsequence("/night.2\"", "/night.10\"", "/night.1\"");
      for (String sort :
          List.of("state", "ready", "age", "reserved", "dead", "failed", "rate", "workers")) {
        assertThat(vera.get(path + sort).body())
            .containsSubsequence("/night.1\"", "/night.2\"", "/night.10\"");
      }
      assertThat(vera.get("/console/queues?q=InvoiceReminder").body())
          .contains(
              "title=\"shop/" + name + "\"",
              ">shop/</small>",
              ">com.acme.billing.invoices.Invoi</span><span>ceReminder</span>");
    }
  }

  private JsonNode claim(String type, int jobs) {
    String claim =
        "{\"application\":\"shop\",\"taskTypes\":[\"%s\"],\"max\":%d,\"wait\":\"10s\"}"
            .formatted(type, jobs);
    return api.call("POST", "/api/v1/claims", claim, ADMIN).body().get("jobs");
  }

  @Test
  void aQueueWhoseAttemptsFailIsNotOnTime() {
    for (int i = 0; i < 24; i++) {
      submit("flaky", "f" + i, "0s", ",\"retry\":\"1h,1h\"");
    }
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      // The first look that the others are compared with.
      var unused = vera.get("/console/queues/shop/flaky");
      int ended = 0;
      while (ended < 24) {
        for (JsonNode job : claim("flaky", 24)) {
          boolean fails = ended++ % 4 == 0;
          call(
              "POST",
              "/api/v1/claims/" + job.get("token").asString() + (fails ? "/nack" : "/ack"),
              fails ? "{\"error\":\"a.b.CardException: card %d refused\"}".formatted(ended) : "{}");
        }
      }
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(vera.get("/console/queues/shop/flaky").body()))
                      .contains("failing 25 % of 24 attempts in the last minute failed."));
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(vera.get("/console").body()))
                      .contains("shop/flaky 25 % of 24 attempts in the last minute failed"));
      assertThat(words(vera.get("/console/queues?state=failing&sort=failed").body()))
          .containsPattern("shop/ +flaky failing .* 25 % ");
      JsonNode queue = api.call("GET", "/api/v1/queues/shop/flaky", "", ADMIN).body();
      assertThat(queue.at("/state").asString()).isEqualTo("failing");
      assertThat(queue.at("/attempts")).hasToString("{\"ended\":24,\"failed\":6,\"minutes\":1}");
      assertThat(api.call("GET", "/api/v1/doctor", "", ADMIN).body().toString())
          .contains("\"failing\"", "flaky (25 % of 24 attempts")
          .containsPattern(
              "minute; 100 % of the last 6 failures .*CardException: card \\d+ refused");
      String often = "refused CardException 100 % of the last 6 failures at this scheduler";
      for (String page : List.of("/console", "/console/queues/shop/flaky")) {
        String html = vera.get(page).body();
        assertThat(words(html)).contains(often);
        Matcher link = Pattern.compile("href=\"([^\"]*flaky[^\"]*error:[^\"]*)\"").matcher(html);
        assertThat(link.find()).isTrue();
        assertThat(words(vera.get(link.group(1).replace("&quot;", "%22")).body()))
            .contains("refused CardException");
      }
      assertThat(words(vera.get("/console?lang=zh-CN").body())).contains("占本调度器最近 6 次失败的 100%");
      vera.get("/console?lang=en");
    }
  }

  private void register(String instance, HoldingWorker worker, String release) {
    String registration =
        "{\"url\":\"%s/callback\",\"taskTypes\":[\"pay\"],\"protocol\":\"batch\",\"release\":\"%s\"}";
    assertThat(
            call(
                "PUT",
                "/api/v1/workers/fleet/" + instance,
                registration.formatted(worker.uri(), release)))
        .isEqualTo(201);
  }

  @Test
  void theInstanceAndTheReleaseThatFailAreNamed() {
    try (HoldingWorker good = new HoldingWorker("fleet", KEY, CallbackResult.DONE);
        HoldingWorker bad = new HoldingWorker("fleet", KEY, CallbackResult.REJECT);
        Visitor otto = Visitor.loggedIn(port, "otto")) {
      register("fleet-1", good, "2.13.0");
      register("fleet-2", bad, "2.14.0");
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(api.call("GET", "/api/v1/workers?application=fleet", "", ADMIN).text())
                      .contains("\"release\":\"2.13.0\"", "\"release\":\"2.14.0\"")
                      .containsPattern("reached.*reached"));
      for (int i = 0; i < 100; i++) {
        String job =
            "{\"application\":\"fleet\",\"taskType\":\"pay\",\"taskId\":\"p%d\",\"delay\":0}";
        assertThat(call("POST", "/api/v1/jobs", job.formatted(i))).isEqualTo(201);
      }
      Awaitility.await()
          .untilAsserted(
              () -> {
                JsonNode queue = api.call("GET", "/api/v1/queues/fleet/pay", "", ADMIN).body();
                assertThat(
                        queue.at("/counters/done").asInt() + queue.at("/counters/rejected").asInt())
                    .isEqualTo(100);
              });
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(words(otto.get("/console/dead").body()))
                      .contains(
                          "no answer of the bank", "100 % of them at fleet-2, release 2.14.0"));
      assertThat(words(otto.get("/console/dead?lang=zh-CN").body()))
          .contains("其中 100% 出自 fleet-2，发布版本 2.14.0");
      for (String found : List.of("at:fleet-2", "release:2.14.0", "at:fleet-2 release:2.14.0")) {
        String search = "app:fleet type:pay state:dead " + found;
        assertThat(otto.get("/console/jobs?q=" + Visitor.encoded(search)).body())
            .as(search)
            .contains("/console/jobs/fleet/pay/p");
      }
      for (String other : List.of("at:fleet-1", "release:2.1", "at:fleet-2 release:2.13.0")) {
        String search = "app:fleet state:dead " + other;
        assertThat(otto.get("/console/jobs?q=" + Visitor.encoded(search)).body())
            .as(search)
            .doesNotContain("/console/jobs/fleet/pay/p");
      }
      JsonNode dead =
          api.call("GET", "/api/v1/jobs?application=fleet&state=dead", "", ADMIN)
              .body()
              .at("/items/0");
      assertThat(dead.at("/lastError/instance").asString()).isEqualTo("fleet-2");
      assertThat(dead.at("/lastError/release").asString()).isEqualTo("2.14.0");
      String page = "/console/jobs/fleet/pay/" + dead.at("/taskId").asString();
      assertThat(words(otto.get(page + "?lang=en").body())).contains("fleet-2 · release 2.14.0");

      assertThat(words(otto.get("/console/workers?lang=en").body()))
          .containsPattern("fleet-2 fleet .*shop-gone .*fleet-1 fleet")
          .containsPattern("fleet-2 fleet 2\\.14\\.0 failing 0 of 100 0\\.0 100 % \\d+ ms")
          .containsPattern("fleet-1 fleet 2\\.13\\.0 well 0 of 100 \\d+\\.\\d 0 % \\d+ ms")
          .contains("Counted are the attempts that ended in the last 15 minutes.");
      assertThat(words(otto.get("/console/queues/fleet/pay?lang=en").body()))
          .containsPattern("fleet-2 2\\.14\\.0 failing 100 % .*fleet-1 2\\.13\\.0 well 0 % ");
      assertThat(otto.get("/console/workers?q=2.14.0").body())
          .contains("class=\"bad\">2.14.0", "fleet-2")
          .doesNotContain("fleet-1");
      assertThat(words(otto.get("/console/workers?lang=zh-CN").body()))
          .contains("发布版本", "统计最近 15 分钟内结束的执行。");
      assertThat(words(otto.get("/console/doctor").body()))
          .contains(
              "fleet-2, release 2.14.0：最近 15 分钟内，本调度器投递给它的", "处理办法： 请将它的日志、发布版本和机器与其他实例比较。", " 有保证")
          .doesNotContain("is kept");
      assertThat(words(otto.get("/console?lang=en").body()))
          .contains("fleet an instance fails far more often than the others:")
          .contains("fleet-2, release 2.14.0: 100 % of");
      assertThat(api.call("GET", "/api/v1/doctor?application=fleet", "", ADMIN).body().toString())
          .contains("\"outlier\"", "fleet-2, release 2.14.0", "others get its jobs");
      assertThat(
              api.call("GET", "/api/v1/workers?application=fleet", "", ADMIN)
                  .body()
                  .at("/items/1/attempts/failed")
                  .asInt())
          .isGreaterThan(20);

      // With the same release as one that is well, it is the instance.
      String same =
          "{\"url\":\"%s/callback\",\"taskTypes\":[\"pay\"],\"protocol\":\"batch\",\"release\":\"2.14.0\"}"
              .formatted(good.uri());
      assertThat(call("PUT", "/api/v1/workers/fleet/fleet-1", same)).isEqualTo(200);
      Awaitility.await()
          .untilAsserted(
              () -> {
                for (String path : List.of("/console/workers", "/console/queues/fleet/pay")) {
                  assertThat(otto.get(path).body())
                      .doesNotContain("2.13.0", "class=\"bad\">2.14.0")
                      .contains("2.14.0", "class=\"tag failing\"");
                }
              });
    } finally {
      call("DELETE", "/api/v1/workers/fleet/fleet-1", "");
      call("DELETE", "/api/v1/workers/fleet/fleet-2", "");
    }
  }

  @Test
  void aPauseSaysWhoPausedAndWhyUntilWhen() {
    try (Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      String job = "{\"application\":\"pausing\",\"taskType\":\"a\",\"delay\":\"1h\"}";
      assertThat(call("POST", "/api/v1/jobs", job)).isEqualTo(201);
      String queue = "/console/queues/pausing/a";
      Map<String, String> form = Map.of("reason", "<b>stock</b>", "for", "30m", "of", "queue");
      assertThat(Visitor.next(otto.post(queue + "/pause", form))).isEqualTo(queue);
      form = Map.of("reason", "deploy", "of", "application");
      assertThat(Visitor.next(otto.post(queue + "/pause", form))).isEqualTo(queue);
      for (String page : List.of(queue, "/console/queues?q=pausing", "/console")) {
        Awaitility.await()
            .untilAsserted(
                () ->
                    assertThat(vera.get(page).body())
                        .contains(
                            "<span>Paused: otto</span>",
                            "<q>&lt;b&gt;stock&lt;/b&gt;</q>",
                            "<span>until</span>",
                            "<span>The application is paused: otto</span>",
                            "<q>deploy</q>")
                        .doesNotContain("/resume"));
      }
      assertThat(words(vera.get(queue + "?lang=zh-CN").body())).contains("整个应用已暂停：otto");
      assertThat(otto.post(queue + "/pause", Map.of("for", "soon")).statusCode()).isEqualTo(400);
      assertThat(otto.post(queue + "/resume", Map.of("of", "all")).statusCode()).isEqualTo(400);
      assertThat(otto.get(queue).body()).contains("value=\"application\"", "Resume pausing");
      assertThat(Visitor.next(otto.post(queue + "/resume", Map.of("of", "application"))))
          .isEqualTo(queue);
      assertThat(Visitor.next(otto.post(queue + "/resume", Map.of()))).isEqualTo(queue);
      assertThat(otto.get(queue).body()).doesNotContain("Paused: otto", "/resume");
      assertThat(otto.get("/console/audit").body())
          .contains("paused by otto since", "&lt;b&gt;stock&lt;/b&gt;");
    }
  }

  @Test
  void aJobThatEndedSaysHow() {
    for (String job : List.of("ran", "one", "many", "paid")) {
      String event = ",\"cancelOn\":[{\"name\":\"order.paid\",\"key\":\"7\"}]";
      submit("ends", job, job.equals("ran") ? "0s" : "1h", job.equals("paid") ? event : "");
    }
    String token = claim("ends", 1).get(0).get("token").asString();
    String again = "{\"delay\":0,\"error\":\"broken\"}";
    assertThat(call("POST", "/api/v1/claims/" + token + "/nack", again)).isEqualTo(200);
    token = claim("ends", 1).get(0).get("token").asString();
    assertThat(call("POST", "/api/v1/claims/" + token + "/ack", "{}")).isEqualTo(200);
    String paid = "{\"name\":\"order.paid\",\"key\":\"7\",\"applications\":[\"shop\"]}";
    assertThat(call("POST", "/api/v1/events", paid)).isEqualTo(200);
    String many = "{\"application\":\"shop\",\"taskType\":\"ends\",\"taskIds\":[\"many\"]}";
    assertThat(call("POST", "/api/v1/jobs:cancel", many)).isEqualTo(200);
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      var unused = otto.post("/console/jobs/shop/ends/one/cancel", Map.of());
      String job = "/console/jobs/shop/ends/";
      assertThat(words(otto.get(job + "ran").body()))
          .containsPattern(
              "finished · late by \\d+ ms · \\d+ ms · 127\\.0\\.0\\.1\\S* · attempt 2 ")
          .contains(
              "Once a job has ended, the scheduler no longer has its params, tags and failed");
      String list = "/console/jobs?q=app:shop%20type:ends%20id:";
      assertThat(words(otto.get(list + "ran").body()))
          .containsPattern("finished \\S+ 2 ")
          .doesNotContain("0 / 0");
      assertThat(words(otto.get(list + "paid").body())).containsPattern("cancelled \\S+ – ");
      assertThat(words(otto.get(job + "one").body()))
          .contains("cancelled by otto", "Undo the cancel")
          .doesNotContain("no longer has its params");
      assertThat(words(otto.get(job + "many").body())).contains("cancelled by bea");
      assertThat(words(otto.get(job + "paid").body()))
          .contains("cancelled by the event order.paid=7");
      assertThat(words(otto.get(job + "one?lang=zh-CN").body())).contains("由 otto 取消");
      assertThat(words(otto.get(job + "ran").body())).containsPattern("已完成 · 延迟 \\d+ ms");
    }
  }

  @Test
  void aCancelIsUndoneFromTheMessageOrFromTheJob() {
    submit("undone", "one", "1h", "");
    String job = "/console/jobs/shop/undone/one";
    try (Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      HttpResponse<String> cancelled = otto.post(job + "/cancel", Map.of());
      String told = otto.get(Visitor.next(cancelled)).body();
      assertThat(told.split(job + "/restore", -1)).hasSize(3);
      assertThat(words(told)).contains("The job is cancelled. Undo");
      assertThat(words(told))
          .containsPattern("cancelled by otto \\( ?\\S+ ?\\) · can be undone until");
      // From one job to the next.
      assertThat(told).contains("id=\"find\"");
      String unknown = otto.get("/console/jobs?q=" + Visitor.encoded("id:undone-7")).body();
      assertThat(unknown).contains("href=\"/console/audit?target=undone-7\"");
      assertThat(vera.get("/console/jobs?q=id:undone-7").body()).doesNotContain("/console/audit");
      assertThat(vera.get(job).body()).doesNotContain("/restore");
      assertThat(words(otto.get(job + "?lang=zh-CN").body())).contains("撤销取消", "可撤销至");
      var unused = otto.get(job + "?lang=en");

      HttpResponse<String> restored = otto.post(job + "/restore", Map.of());
      assertThat(words(otto.get(Visitor.next(restored)).body()))
          .contains("The cancel is undone.", "delayed")
          .doesNotContain("can be undone until");
      assertThat(otto.get("/console/audit?action=restore").body()).contains("shop/undone/one");
    }
  }

  @Test
  void aWholeOperationIsUndoneFromItsPage() {
    for (int i = 0; i < 5; i++) {
      submit("undone.many", "u" + i, "1h", ",\"params\":\"p" + i + "\"");
    }
    submit("undone.many", "alone", "1h", "");
    try (Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      var unused = otto.post("/console/jobs/shop/undone.many/alone/cancel", Map.of());
      String search = "app:shop type:undone.many state:delayed";
      String preview =
          Visitor.next(otto.post("/console/bulk", Map.of("q", search, "action", "CANCEL")));
      assertThat(words(otto.get(preview).body())).contains("5 jobs match");
      String work = Visitor.next(otto.post(preview + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(work).body().contains("class=\"tag done\""));
      assertThat(words(otto.get(work).body()))
          .contains("Undo this operation", "can be undone until");
      assertThat(vera.get(work).body()).doesNotContain(work + "/undo");
      assertThat(vera.post(work + "/undo", Map.of()).statusCode()).isEqualTo(403);
      submit("undone.many", "u0", "2h", "");

      String undo = Visitor.next(otto.post(work + "/undo", Map.of()));
      assertThat(words(otto.get(undo).body()))
          .contains(
              "4 of 5 cancelled jobs can be restored.",
              "stays as it is: its id was submitted again",
              "Restore 4 jobs");
      assertThat(words(otto.get(undo + "?lang=zh-CN").body())).contains("恢复 4");
      unused = otto.get(undo + "?lang=en");
      assertThat(job("undone.many", "u1")).isEqualTo("cancelled");
      String undoing = Visitor.next(otto.post(undo + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(undoing).body().contains("class=\"tag done\""));
      String told = otto.get(undoing).body();
      assertThat(words(told)).contains("5 of 5 jobs", "restored 4", "shop/undone.many");
      assertThat(told).contains("href=\"" + work + "\"").doesNotContain("/undo\"");
      for (int i = 0; i < 5; i++) {
        assertThat(job("undone.many", "u" + i)).isEqualTo("delayed");
      }
      assertThat(job("undone.many", "alone")).isEqualTo("cancelled");
      assertThat(words(otto.get("/console/audit?action=restore+many").body()))
          .containsPattern("done, 5 jobs \\{exists=1, restored=4}");
      assertThat(words(otto.get("/console/operations").body())).contains("Undo the cancel");
      // What cannot be undone says so, and no search restores.
      assertThat(otto.post(undoing + "/undo", Map.of()).statusCode()).isEqualTo(409);
      assertThat(otto.post("/console/operations/none/undo", Map.of()).statusCode()).isEqualTo(404);
      assertThat(otto.post("/console/bulk", Map.of("q", search, "action", "RESTORE")).statusCode())
          .isEqualTo(400);
    }
  }

  private String job(String type, String taskId) {
    return api.call("GET", "/api/v1/jobs/shop/" + type + "/" + taskId, "", ADMIN).at("/state");
  }

  @Test
  void anUndoOfAnOperationOfAnotherSchedulerSaysWhatIsNotKeptAnyMore() {
    String work = "lost-" + id;
    for (String taskId : List.of("l1", "l2")) {
      submit("undone.lost", taskId, "1h", "");
    }
    String cancel =
        "{\"application\":\"shop\",\"taskType\":\"undone.lost\",\"state\":\"delayed\",\"operation\":\"%s\"}";
    assertThat(api.call("POST", "/api/v1/jobs:cancel", cancel.formatted(work), ADMIN).status())
        .isEqualTo(200);
    String record =
        "{\"id\":\"%s\",\"action\":\"cancel\",\"about\":\"shop/undone.lost\",\"searches\":[],\"checked\":[],\"unnamed\":0,\"when\":\"\",\"operator\":\"ada\",\"scheduler\":\"scheduler-9:8080\",\"perSecond\":0,\"begun\":\"2026-01-01T00:00:00Z\",\"ended\":null,\"state\":\"running\",\"total\":20,\"more\":false,\"outcomes\":{\"cancelled\":9},\"error\":null,\"seen\":%d}";
    try (RedisConnection redis = connections.getConnection();
        Visitor otto = Visitor.loggedIn(port, "otto")) {
      long now = redis.serverCommands().time();
      for (long ago : List.of(0L, UndoLimits.TIME.toMillis() + 60_000, 31_000L)) {
        redis
            .hashCommands()
            .hSet(
                (prefix + ":operations").getBytes(StandardCharsets.UTF_8),
                work.getBytes(StandardCharsets.UTF_8),
                record.formatted(work, now - ago).getBytes(StandardCharsets.UTF_8));
        assertThat(otto.get("/console/operations/" + work).body().contains("/undo\""))
            .as("seen %d ms ago", ago)
            .isEqualTo(ago == 31_000);
      }
      String undo = Visitor.next(otto.post("/console/operations/" + work + "/undo", Map.of()));
      assertThat(words(otto.get(undo).body()))
          .contains(
              "2 of 9 cancelled jobs can be restored.",
              "7 more jobs cannot be restored",
              "10 minutes",
              "100,000");
      String undoing = Visitor.next(otto.post(undo + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(undoing).body().contains("class=\"tag done\""));
      assertThat(words(otto.get(undoing).body()))
          .contains("9 of 9 jobs", "stays cancelled: not kept any more 7", "restored 2");
    }
  }

  @Test
  void aCancelOfALargeJobCannotBeUndone() {
    submit("undone", "large", "1h", ",\"params\":\"" + "x".repeat(65_536) + "\"");
    String job = "/console/jobs/shop/undone/large";
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String told = otto.get(Visitor.next(otto.post(job + "/cancel", Map.of()))).body();
      assertThat(words(told)).contains("The job is cancelled.");
      assertThat(told).doesNotContain(job + "/restore");
    }
  }

  @Test
  void aQueueThatIsPulledIsNotOneThatNobodyTakes() {
    submit("fetched", "first", "0s", "");
    submit("fetched", "second", "0s", "");
    assertThat(claim("fetched", 1)).hasSize(1);
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      assertThat(words(vera.get("/console/jobs/shop/fetched/second").body()))
          .doesNotContain("No instance is registered");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(words(vera.get("/console/queues/shop/fetched").body()))
                      .contains("late The oldest job that is due"));
      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(vera.get("/console").body())
                    .containsPattern("due job has waited</span> <span data-ms=\"\\d{4,}\"");
                assertThat(words(vera.get("/console/queues?q=fetched").body()))
                    .containsPattern("fetched late .* pull ");
              });
      assertThat(words(vera.get("/console/queues/shop/fetched").body()))
          .doesNotContain("No instance of shop is registered")
          .containsPattern("Worker that pulls .* 127\\.0\\.0\\.1\\S* \\S+ 1");
      assertThat(words(vera.get("/console/workers").body()))
          .containsPattern("shop/fetched 127\\.0\\.0\\.1\\S* \\S+ 1");
      assertThat(
              api.call("GET", "/api/v1/queues/shop/fetched", "", ADMIN)
                  .body()
                  .at("/pullers/0/jobs"))
          .hasToString("1");
      assertThat(
              api.call("GET", "/api/v1/queues/shop/fetched", "", ADMIN)
                  .body()
                  .at("/parked")
                  .asString())
          .isEqualTo("false");
      assertThat(claim("fetched", 1)).hasSize(1);
      assertThat(words(vera.get("/console/queues/shop/fetched").body()))
          .containsPattern("Late on average by [\\d.]+ ms : waiting for a worker [\\d.]+ %")
          .contains("Jobs waited longest for a worker.");
    }
  }

  @Test
  void whatIsCheckedIsActedOnInAllItsQueuesAndNothingElse() {
    List<Map.Entry<String, String>> form = new ArrayList<>();
    form.add(Map.entry("q", "app:shop"));
    form.add(Map.entry("action", "CANCEL"));
    for (String type : List.of("check.a", "check.b")) {
      for (int i = 0; i < 20; i++) {
        submit(type, "k" + i, "1h", "");
        if (i < 10) {
          form.add(Map.entry("job", "shop/" + type + "/k" + i));
        }
      }
    }
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String preview = Visitor.next(otto.post("/console/bulk/checked", form));
      assertThat(otto.get(preview).body())
          .contains("20 jobs are checked", "shop/check.a", "shop/check.b", "k9")
          .doesNotContain(">k10<");
      assertThat(otto.get(preview + "?lang=zh-CN").body()).contains("已勾选 20 个任务", "已取消");
      assertThat(otto.get(preview + "?lang=en").body()).contains("Cancel 20 jobs<");
      String slow = Visitor.next(otto.post(preview + "/begin", Map.of("perSecond", "1")));
      Awaitility.await().until(() -> waiting("check.a") < 20);
      assertThat(otto.post(slow + "/stop", Map.of()).statusCode()).isEqualTo(302);
      Awaitility.await().until(() -> otto.get(slow).body().contains("stopped"));
      assertThat(waiting("check.a") + waiting("check.b")).isGreaterThan(20);
      String rest = Visitor.next(otto.post(preview + "/begin", Map.of()));
      Awaitility.await().until(() -> otto.get(rest).body().contains("class=\"tag done\""));
      assertThat(otto.get(rest).body()).contains("k0", "k9").doesNotContain("k10");
      assertThat(otto.get("/console/operations").body()).contains("shop/check.a, shop/check.b");
      assertThat(otto.get("/console/jobs?q=app:shop+type:check.a").body())
          .contains("href=\"/console/queues/shop/check.a\"");
      assertThat(waiting("check.a")).isEqualTo(10);
      assertThat(waiting("check.b")).isEqualTo(10);
      assertThat(call("GET", "/api/v1/jobs/shop/check.b/k10", "")).isEqualTo(200);
    }
  }

  @Test
  void theCallThatAJobsPageShowsIsOneOfThisSchedulerAndItsViewer() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      assertThat(vera.get("/console/jobs/shop/a/" + id).body())
          .contains("curl -u vera http://localhost:" + port + "/api/v1/jobs/shop/a/" + id)
          .contains("accepted from bea");
    }
  }

  @Test
  void aScheduleIsMadeEditedPausedRunBackfilledAndDeletedWithoutAnyScript() {
    String at = "/console/schedules/shop/report/nightly";
    Map<String, String> form = new HashMap<>();
    form.put("application", "shop");
    form.put("taskType", "report");
    form.put("id", "nightly");
    form.put("cron", "30 2 * * *");
    form.put("zone", "Europe/Berlin");
    form.put("from", "2027-03-27T12:00:00Z");
    form.put("tags", "a b");
    form.put("headers", "x: y\r\nz: b:1");
    form.put("params", "one\r\ntwo");
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      assertThat(bea.get("/console/schedules/new").statusCode()).isEqualTo(200);
      HttpResponse<String> preview = bea.post("/console/schedules/preview", form);
      assertThat(words(preview.body()))
          .contains("New schedule", "2027-03-28 03:30", "02:30 does not exist on 2027-03-28");
      assertThat(preview.body()).contains("value=\"30 2 * * *\"", "value=\"a b\"");
      assertThat(call("GET", "/api/v1/schedules/shop/report/nightly", "")).isEqualTo(404);

      form.put("headers", "x: y");
      assertThat(Visitor.next(bea.post("/console/schedules", form))).isEqualTo(at);
      assertThat(words(bea.get(at).body()))
          .contains("The schedule is saved.", "2027-03-28 03:30", "It has not fired yet", "x: y");
      JsonNode stored = api.call("GET", "/api/v1/schedules/shop/report/nightly", "", ADMIN).body();
      assertThat(stored.at("/params").asString()).isEqualTo("one\ntwo");
      assertThat(stored.at("/tags").toString()).isEqualTo("[\"a\",\"b\"]");
      // Another one of that name would be overwritten.
      HttpResponse<String> again = bea.post("/console/schedules", form);
      assertThat(again.statusCode()).isEqualTo(412);
      assertThat(again.body()).contains("id is the id of an existing schedule");

      assertThat(words(bea.get(at + "/edit").body())).contains("Edit schedule", "2027-03-28 03:30");
      form.put("from", "");
      form.put("cron", "61 2 * * *");
      HttpResponse<String> wrong = bea.post(at + "/edit", form);
      assertThat(wrong.statusCode()).isEqualTo(400);
      assertThat(wrong.body()).contains("role=\"alert\"", "cron ", "value=\"61 2 * * *\"");
      assertThat(bea.post("/console/schedules/preview", form).body()).contains("cron ");
      form.put("cron", "0 12 * * *");
      form.put("zone", "");
      assertThat(Visitor.next(bea.post(at + "/edit", form))).isEqualTo(at);
      assertThat(words(bea.get(at).body())).contains("The schedule is saved.", "0 12 * * *");

      assertThat(Visitor.next(bea.post(at + "/pause", Map.of()))).isEqualTo(at);
      assertThat(words(bea.get(at).body())).contains("The schedule is paused.", "paused since");
      assertThat(words(bea.get("/console/schedules?application=shop&taskType=report").body()))
          .contains("nightly shop/report 0 12 * * * UTC paused");
      assertThat(Visitor.next(bea.post(at + "/resume", Map.of()))).isEqualTo(at);
      assertThat(words(bea.get(at).body())).contains("The schedule fires again.", " active ");
      String job = Visitor.next(bea.post(at + "/run", Map.of()));
      assertThat(job).startsWith("/console/jobs/shop/report/nightly@");
      assertThat(words(bea.get(job).body())).contains("The job is due now.", "schedule/nightly");

      String bounds = "?from=2026-01-01T00:00:00Z&until=2026-01-03T00:00:00Z&limit=9";
      assertThat(words(bea.get(at + "/backfill" + bounds).body()))
          .contains("2 jobs would be submitted", "2026-01-01 12:00", "2026-01-02 12:00");
      assertThat(bea.get(at + "/backfill?from=2026-01-03T00:00:00Z&until=2026-01-01T00:00:00Z"))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400));
      Map<String, String> range =
          Map.of("from", "2026-01-01T00:00:00Z", "until", "2026-01-03T00:00:00Z", "limit", "1");
      assertThat(Visitor.next(bea.post(at + "/backfill", range))).isEqualTo(at);
      assertThat(words(bea.get(at).body()))
          .contains("One job was submitted. The first instant that is left is 2026-01-02T12:00");

      assertThat(
              call(
                  "POST",
                  "/api/v1/schedules/declare",
                  "{\"application\":\"shop\",\"taskTypes\":[]}"))
          .isEqualTo(200);
      assertThat(Visitor.next(bea.post(at + "/delete", Map.of()))).isEqualTo("/console/schedules");
      assertThat(bea.get("/console/schedules").body()).contains("The schedule is deleted");
      assertThat(words(bea.get("/console/audit").body()))
          .contains("create schedule", "replace schedule", "pause schedule", "delete schedule");
    }
  }

  @Test
  void aSchedulesPageSaysWhatBecameOfItsRuns() {
    String api1 = "/api/v1/schedules/shop/report.often/often";
    assertThat(call("PUT", api1, "{\"every\":\"1s\",\"whileRunning\":\"start\"}")).isEqualTo(201);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.call("GET", api1, "", ADMIN).body().at("/counts/fired").asInt() >= 2);
    assertThat(call("POST", api1 + "/pause", "")).isEqualTo(200);
    String last = api.call("GET", api1, "", ADMIN).body().at("/lastAt").asString();
    String taskId = "often@" + last;
    assertThat(call("DELETE", "/api/v1/jobs/shop/report.often/" + taskId, "")).isEqualTo(200);
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String page = vera.get("/console/schedules/shop/report.often/often").body();
      assertThat(words(page)).contains(last + " cancelled", " ready ", "It is paused.");
      assertThat(page)
          .contains("/console/jobs/shop/report.often/often@")
          .doesNotContain("<form method=\"post\"");
      String list = vera.get("/console/schedules?application=shop&taskType=report.often").body();
      assertThat(list).contains("value=\"shop\"", "value=\"report.often\"");
      assertThat(vera.get("/console/schedules").body()).doesNotContain("thymeleaf");
      assertThat(words(list))
          .contains("often shop/report.often 1s UTC paused " + last + " cancelled");
      assertThat(words(vera.get("/console/schedules?lang=zh-CN").body())).contains("定时计划", "已暂停");
    }
  }

  /** The first line of a page. */
  private static String head(Visitor visitor, String path) {
    String page = visitor.get(path).body();
    return words(page.substring(page.indexOf("<h1"), page.indexOf("</h1>"))).strip();
  }

  @Test
  void theFirstLineOfTheSchedulesSaysHowTheirLastRunsEnded() {
    String dies = "/api/v1/schedules/heads/dies/often";
    String list = "/console/schedules?application=heads&taskType=dies";
    assertThat(call("PUT", dies, "{\"every\":\"1s\",\"whileRunning\":\"start\"}")).isEqualTo(201);
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> api.call("GET", dies, "", ADMIN).body().at("/counts/fired").asInt() > 0);
      assertThat(call("POST", dies + "/pause", "")).isEqualTo(200);
      assertThat(head(vera, list))
          .isEqualTo("One matching schedule, no last run is a dead letter, one is paused");
      String claim =
          "{\"application\":\"heads\",\"taskTypes\":[\"dies\"],\"max\":50,\"wait\":\"10s\"}";
      for (JsonNode job : api.call("POST", "/api/v1/claims", claim, ADMIN).body().get("jobs")) {
        String token = job.get("token").asString();
        assertThat(call("POST", "/api/v1/claims/" + token + "/reject", "{}")).isEqualTo(200);
      }
      assertThat(head(vera, list))
          .isEqualTo("One matching schedule, the last run of one is a dead letter, one is paused");
      assertThat(head(vera, list + "&lang=zh-CN"))
          .isEqualTo("有 1 个匹配的定时计划，其中 1 个最近一次触发成为死信，1 个已暂停");
      byte[] jobs = (prefix + ":{heads:dies:0}:dead").getBytes(StandardCharsets.UTF_8);
      try (RedisConnection redis = connections.getConnection()) {
        redis.keyCommands().del(jobs);
        redis.stringCommands().set(jobs, jobs);
        assertThat(head(vera, list + "&lang=en"))
            .isEqualTo("One matching schedule, one is paused, one cannot be read");
        assertThat(vera.get(list).body()).contains("Redis cannot read the job");
        redis.keyCommands().del(jobs);
      }
      assertThat(head(vera, "/console/schedules?application=none"))
          .isEqualTo("No matching schedule");
      for (int i = 0; i < 51; i++) {
        String one = "/api/v1/schedules/heads/daily/s" + i;
        assertThat(call("PUT", one, "{\"every\":\"1d\"}")).isEqualTo(201);
      }
      String all = "/console/schedules?application=heads";
      assertThat(head(vera, all))
          .isEqualTo("50 schedules on this page, no last run is a dead letter");
      assertThat(head(vera, "/console/schedules")).startsWith("50 schedules on this page, ");
    } finally {
      call("DELETE", dies, "");
      IntStream.range(0, 51)
          .forEach(i -> call("DELETE", "/api/v1/schedules/heads/daily/s" + i, ""));
    }
  }

  @Test
  void theFirstLineOfTheJobsCountsThemOrThoseThatWereFound() {
    submit("heads", "w1", "1h", ",\"tags\":[\"heads\"]");
    submit("heads", "w2", "1h", ",\"tags\":[\"heads\"]");
    die("heads", "d1", "HeadsException: no head");
    submit("heads.bad", "x", "1h", "");
    byte[] dead = (prefix + ":{shop:heads.bad:0}:dead").getBytes(StandardCharsets.UTF_8);
    try (RedisConnection redis = connections.getConnection();
        Visitor vera = Visitor.loggedIn(port, "vera")) {
      redis.stringCommands().set(dead, dead);
      for (String search : List.of("", " state:dead", " state:reserved", " state:ready")) {
        assertThat(head(vera, jobs("app:shop type:heads" + search)))
            .isEqualTo("shop/heads: 2 jobs wait, none is in flight, one is dead");
      }
      assertThat(head(vera, jobs("app:shop type:heads") + "&lang=zh-CN"))
          .isEqualTo("shop/heads：等待中 2 个任务，执行中 0 个，死信 1 个");
      vera.get("/console?lang=en");
      for (String search :
          List.of("tag:heads type:heads", "error:HeadsException state:dead type:heads")) {
        assertThat(head(vera, jobs(search)))
            .isEqualTo(search.startsWith("tag") ? "2 jobs match" : "One job matches");
      }
      assertThat(head(vera, jobs("w1 type:heads"))).isEqualTo("One job matches");
      assertThat(head(vera, jobs("w1 type:none"))).isEqualTo("No job matches");
      assertThat(head(vera, jobs("app:<b>none</b>"))).isEqualTo("No job matches");
      assertThat(head(vera, jobs("state:bad"))).isEqualTo("The search cannot be read");
      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(head(vera, "/console/jobs"))
                    .matches(
                        "[\\d,]+ jobs wait, (none is|one is|[\\d,]+ are) in flight, (one is|[\\d,]+ are)"
                            + " dead; one damaged queue may have more");
                assertThat(head(vera, jobs("app:shop state:dead error:HeadsException")))
                    .isEqualTo("One job matches; one damaged queue may have more");
                assertThat(head(vera, jobs("id:w1 app:shop")))
                    .isEqualTo("One job matches; one damaged queue may have more");
                assertThat(head(vera, jobs("tag:heads app:shop")))
                    .isEqualTo("2 jobs match; one damaged queue may have more");
              });
    } finally {
      try (RedisConnection redis = connections.getConnection()) {
        redis.keyCommands().del(dead);
      }
    }
  }

  private static String jobs(String search) {
    return "/console/jobs?q=" + Visitor.encoded(search);
  }

  private int waiting(String type) {
    return api.call("GET", "/api/v1/queues/shop/" + type, "", ADMIN).body().at("/delayed").asInt();
  }

  @Test
  void whoChecksNothingOrTooMuchIsToldSo() {
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      List<Map.Entry<String, String>> many = new ArrayList<>();
      many.add(Map.entry("action", "CANCEL"));
      assertThat(otto.post("/console/bulk/checked", many).body()).contains("check the boxes");
      // Nothing checked must never mean all that match.
      assertThat(otto.post("/console/bulk", Map.of("action", "CANCEL")).body())
          .contains("check the boxes");
      many.add(Map.entry("job", "shop/a"));
      assertThat(otto.post("/console/bulk/checked", many).statusCode()).isEqualTo(400);
      many.clear();
      many.add(Map.entry("action", "PURGE"));
      many.add(Map.entry("job", "shop/a/" + id));
      assertThat(otto.post("/console/bulk/checked", many).statusCode()).isEqualTo(403);
      many.set(0, Map.entry("action", "CANCEL"));
      for (int i = 0; i < 200; i++) {
        many.add(Map.entry("job", "shop/a/n" + i));
      }
      assertThat(otto.post("/console/bulk/checked", many).body()).contains("at most 200 at once");
      assertThat(call("GET", "/api/v1/jobs/shop/a/" + id, "")).isEqualTo(200);
    }
  }

  /** What of a page is no markup. */
  private static String words(String page) {
    return page.replaceAll("<[^>]*>", " ").replaceAll("\\s+", " ");
  }

  @Test
  void pagesOfFoundJobsGoThroughAllQueues() {
    for (String type : List.of("p", "p-a", "p.b")) {
      for (int i = 0; i < 40; i++) {
        submit(type, "n" + i, (60 + i) + "m", ",\"tags\":[\"pages\"]");
      }
    }
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      for (String search : List.of("app:shop tag:pages", "app:shop until:+9d")) {
        String path = jobs(search);
        String last = path;
        int seen = 0;
        int pages = 0;
        assertThat(head(vera, path)).isEqualTo("50 jobs on this page; more may match");
        while (path != null) {
          String page = vera.get(path).body();
          last = path;
          seen += page.split("/console/jobs/shop/p", -1).length - 1;
          path =
              page.lines()
                  .filter(line -> line.contains("rel=\"next\""))
                  .map(line -> line.replaceAll(".*href=\"([^\"]+)\".*", "$1"))
                  .map(href -> href.replace("&amp;", "&"))
                  .findFirst()
                  .orElse(null);
          pages++;
        }
        assertThat(seen).as(search).isEqualTo(120);
        assertThat(pages).isGreaterThan(2);
        assertThat(head(vera, last)).matches("\\d+ jobs on the last page");
      }
    }
  }
}
