package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.security.Allowed;
import java.net.HttpCookie;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The console below its looks: who gets in, and what forms do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleIT extends ConsoleTestBase {

  @Autowired
  @Qualifier("requestMappingHandlerMapping")
  private RequestMappingHandlerMapping mappings;

  private record Route(String method, String path, @Nullable Allowed allowed) {

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

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
                    .filter(pattern -> !pattern.equals("/console/login"))
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
                                                .replace("{id}", "none"),
                                            entry.getValue().getMethodAnnotation(Allowed.class)))));
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
          .satisfies(answer -> assertThat(answer.body()).contains("delay must be"));
      assertThat(bea.post(queue + "/limits", Map.of("rate", "fast")).statusCode()).isEqualTo(400);
      assertThat(bea.post(queue + "/limits", Map.of("concurrency", "-1")).statusCode())
          .isEqualTo(400);
      assertThat(bea.post(queue + "/purge", Map.of("state", "delayed", "name", "shop/b")).body())
          .contains("must be shop/a");
      assertThat(bea.post("/console/bulk", Map.of("q", "state:dead", "action", "PURGE")).body())
          .contains("must name app:");
      assertThat(bea.post(job + "/edit", Map.of("params", "x", "version", "\"old\"")).statusCode())
          .isEqualTo(412);
      for (String q :
          List.of("a b", "state:bad", "from:yesterday", "tag:x tag:y", "app:a*b id:x")) {
        assertThat(bea.get("/console/jobs?q=" + Visitor.encoded(q)).statusCode())
            .as(q)
            .isIn(400, 200);
      }
      assertThat(bea.get("/console/jobs?q=" + Visitor.encoded("state:bad")).body())
          .contains("must be one of");
      assertThat(bea.get("/console/queues?sort=nothing").statusCode()).isEqualTo(400);
      assertThat(bea.get("/console/queues?page=99999999999").statusCode()).isEqualTo(200);
      // What the framework finds by itself is a page, too.
      assertThat(bea.post("/console/bulk", Map.of("q", "x")))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
          .satisfies(answer -> assertThat(answer.body()).contains("<main", "could not be"));
      assertThat(call("GET", "/api/v1/jobs/shop/a/" + id, "")).isEqualTo(200);
    }
  }

  @Test
  void manyJobsAreCancelledAsFastAsWasSaidUntilSomebodyStopsIt() {
    for (int i = 0; i < 30; i++) {
      submit("bulk", "b" + i, "1h", "");
    }
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String search = "app:shop type:bulk state:delayed";
      var unused = otto.get("/console/jobs?q=" + Visitor.encoded(search));
      HttpResponse<String> preview =
          otto.post("/console/bulk", Map.of("q", search, "action", "CANCEL"));
      assertThat(preview.body()).contains("30 jobs match", "b0");
      assertThat(otto.get("/console/queues/shop/bulk").body()).contains("<b>30</b>");
      String slow =
          otto.post(
                  "/console/bulk/begin", Map.of("q", search, "action", "CANCEL", "perSecond", "1"))
              .headers()
              .firstValue("Location")
              .orElseThrow()
              .replaceFirst("^https?://[^/]+", "");
      Awaitility.await().until(() -> otto.get(slow).body().contains("running"));
      assertThat(otto.post(slow + "/stop", Map.of()).statusCode()).isEqualTo(302);
      Awaitility.await().until(() -> otto.get(slow).body().contains("stopped"));
      String rest =
          otto.post("/console/bulk/begin", Map.of("q", search, "action", "CANCEL"))
              .headers()
              .firstValue("Location")
              .orElseThrow()
              .replaceFirst("^https?://[^/]+", "");
      Awaitility.await().until(() -> otto.get(rest).body().contains("class=\"tag done\""));
      assertThat(otto.get("/console/jobs?q=" + Visitor.encoded(search)).body())
          .contains("No job matches");
      assertThat(otto.get("/console/audit").body()).contains("cancel many");
      // Who may not purge by hand may not purge many.
      assertThat(otto.post("/console/bulk", Map.of("q", search, "action", "PURGE")).statusCode())
          .isEqualTo(403);
    }
  }

  @Test
  void pagesOfFoundJobsGoThroughAllQueues() {
    for (String type : List.of("p", "p-a", "p.b")) {
      for (int i = 0; i < 40; i++) {
        submit(type, "n" + i, (60 + i) + "m", ",\"tags\":[\"pages\"]");
      }
    }
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      for (String search : List.of("app:shop tag:pages", "app:shop until:2999-01-01T00:00:00Z")) {
        String path = "/console/jobs?q=" + Visitor.encoded(search);
        int seen = 0;
        int pages = 0;
        while (path != null) {
          String page = vera.get(path).body();
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
      }
    }
  }
}
