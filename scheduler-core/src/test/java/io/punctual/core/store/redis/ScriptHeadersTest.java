package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.core.store.redis.script.StoreOptions;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/** What the header of a script promises is what the script uses and what Java passes. */
class ScriptHeadersTest {

  private static final Path LUA = Path.of("src/main/lua");
  private static final Pattern TAG = Pattern.compile("-- ([A-Z]+) +(.*)");
  private static final Pattern ARGUMENT =
      Pattern.compile(
          "([a-z]+): (text|bytes|integer|0 or 1|'[a-z]+'(?:,? (?:or )?'[a-z]+')+)(,.*|;.*)?");

  /** What {@link Calls} passes under that name. */
  private static final Map<String, String> SAMPLES =
      Map.ofEntries(
          Map.entry("channel", "p:wake"),
          Map.entry("bucket", "shop:order%3Aclose:3"),
          Map.entry("id", "the-id"),
          Map.entry("incarnation", "the-incarnation"),
          Map.entry("token", "the-token"),
          Map.entry("owner", "the-owner"),
          Map.entry("by", "the-actor"),
          Map.entry("operation", "the-operation"),
          Map.entry("mode", "in"),
          Map.entry("due", "+111"),
          Map.entry("options", "1 x y"),
          Map.entry(
              "record", "\0\u0016the-incarnation 66 the-trace the-submitter x y\nthe content"),
          Map.entry("rest", "the-token 555 1 the note"),
          Map.entry("millis", "111"),
          Map.entry("attempts", "22"),
          Map.entry("content", "the content"),
          Map.entry("replace", "1"),
          Map.entry("max", "33"),
          Map.entry("newest", "1"),
          Map.entry("allSize", "200"),
          Map.entry("all", "3"),
          Map.entry("ownSize", "100"),
          Map.entry("own", "2"),
          Map.entry("bytes", "1048576"),
          Map.entry("lease", "444"),
          Map.entry("delay", "555"),
          Map.entry("retention", "600000"),
          Map.entry("op", "failed"),
          Map.entry("alone", "1"),
          Map.entry("note", "the note"),
          Map.entry("oldest", "0"),
          Map.entry("state", "dead"),
          Map.entry("earliest", "0"),
          Map.entry("before", "0"),
          Map.entry("score", "777"),
          Map.entry("last", "the-last"),
          Map.entry("ttr", "66"),
          Map.entry("trace", "the-trace"),
          Map.entry("submitter", "the-submitter"),
          Map.entry("tags", " x y"),
          Map.entry("version", "seen 888"),
          Map.entry("running", "interrupt"),
          Map.entry("tag", "the-tag"),
          Map.entry("terms", "own"),
          Map.entry("scope", "application"),
          Map.entry("length", "333"),
          Map.entry("words", "the-operator\nthe reason"),
          Map.entry("concurrency", "77"),
          Map.entry("rate", "88 999"),
          Map.entry("until", "3333"),
          Map.entry("claimed", "4444"),
          Map.entry("jump", "5555"),
          Map.entry("kind", "changed"),
          Map.entry("at", "1111"),
          Map.entry("accepted", "2222"),
          Map.entry("width", "999"),
          Map.entry("drop", "1"),
          Map.entry("hours", "the-hours"),
          Map.entry("opening", "666 667 668 669"),
          Map.entry("intervals", "44"));

  private record Header(
      String purpose, List<String> tags, List<String> fixed, List<String> each, List<String> all) {}

  static Stream<String> scripts() throws IOException {
    return files(LUA);
  }

  private static Stream<String> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".lua"))
          .map(name -> name.substring(0, name.length() - 4))
          .sorted()
          .toList()
          .stream();
    }
  }

  private static Header header(String script) throws IOException {
    List<String> lines =
        Files.readAllLines(LUA.resolve(script + ".lua")).stream()
            .takeWhile(line -> line.startsWith("-- ") || line.equals("--"))
            .toList();
    int blank = lines.indexOf("--");
    String purpose =
        String.join(" ", lines.subList(0, blank).stream().map(l -> l.substring(3)).toList());
    List<String> tags = new ArrayList<>();
    List<String> fixed = new ArrayList<>();
    List<String> each = new ArrayList<>();
    for (String line : lines.subList(blank + 1, lines.size())) {
      Matcher tag = TAG.matcher(line);
      if (!tag.matches()) {
        assertThat(line).as("continuation in %s", script).startsWith("--          ");
        continue;
      }
      tags.add(tag.group(1));
      if (tag.group(1).equals("ARGV") || tag.group(1).equals("EACH")) {
        Matcher argument = ARGUMENT.matcher(tag.group(2));
        assertThat(argument.matches()).as("%s: %s", script, line).isTrue();
        (tag.group(1).equals("ARGV") ? fixed : each).add(argument.group(1));
      }
    }
    return new Header(purpose, tags, fixed, each, lines);
  }

  private static String code(String file) throws IOException {
    return Files.readString(LUA.resolve(file + ".lua")).replaceAll("(?m)--.*$", "");
  }

  @Test
  void everyScriptHasACallAndEveryCallAScript() throws IOException {
    assertThat(scripts()).containsExactlyElementsOf(new TreeSet<>(Calls.all().keySet()));
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void theHeaderHasItsForm(String script) throws IOException {
    Header header = header(script);

    assertThat(header.purpose()).matches("[A-Z].*\\.");
    assertThat(String.join(" ", header.tags())).matches("KEYS( ARGV)*( EACH)* RETURNS COST WHY");
    assertThat(header.all()).contains("-- KEYS     the keys of the bucket, see lib/keys");
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void theScriptUsesExactlyTheArgumentsOfItsHeader(String script) throws IOException {
    Header header = header(script);
    String code = code(script);

    assertThat(numbers(code, "ARGV\\[(\\d+)\\]"))
        .containsExactlyElementsOf(upTo(1, header.fixed().size()));
    Matcher loop = Pattern.compile("for i = (\\d+), #ARGV(?:, (\\d+))? do").matcher(code);
    if (header.each().isEmpty()) {
      assertThat(code).doesNotContain("#ARGV");
    } else {
      assertThat(loop.find()).isTrue();
      assertThat(loop.group(1)).isEqualTo(Integer.toString(header.fixed().size() + 1));
      assertThat(loop.group(2) == null ? "1" : loop.group(2))
          .isEqualTo(Integer.toString(header.each().size()));
      assertThat(code).contains("ARGV[i]");
      assertThat(numbers(code, "ARGV\\[i \\+ (\\d+)\\]"))
          .containsExactlyElementsOf(upTo(1, header.each().size() - 1));
    }
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void javaPassesWhatTheHeaderSays(String script) throws IOException {
    Header header = header(script);
    Bucket bucket = new Bucket(new QueueName("shop", "order:close"), 3);

    List<byte[]> passed = passed(script, bucket);

    String tag = "p:{shop:order%3Aclose:3}:";
    assertThat(passed.subList(0, Keys.SUFFIXES.size()).stream().map(BucketReader::text))
        .containsExactlyElementsOf(Keys.SUFFIXES.stream().map(suffix -> tag + suffix).toList());
    List<String> names = new ArrayList<>(header.fixed());
    names.addAll(header.each());
    assertThat(passed.subList(Keys.SUFFIXES.size(), passed.size()).stream().map(BucketReader::text))
        .containsExactlyElementsOf(names.stream().map(SAMPLES::get).toList());
  }

  @Test
  void theKeysHaveTheSameNamesInJavaAndLua() throws IOException {
    String names =
        Pattern.compile("local ([A-Z, \\n]+) =")
            .matcher(code("lib/keys"))
            .results()
            .map(result -> result.group(1))
            .reduce((a, b) -> a + ", " + b)
            .orElseThrow();
    assertThat(Arrays.stream(names.split(",")).map(name -> name.strip().toLowerCase(Locale.ROOT)))
        .startsWith(Keys.SUFFIXES.toArray(String[]::new));
  }

  @Test
  void onlyOneIncludeReadsTheClockAndNoneDecodesOrHidesErrors() throws IOException {
    for (String file : everyFile()) {
      String code = code(file);
      if (!file.equals("lib/now")) {
        assertThat(code).as(file).doesNotContain("'TIME'");
      }
      if (!file.equals("lib/wake")) {
        assertThat(code).as(file).doesNotContain("pcall");
      }
      assertThat(code).as(file).doesNotContain("cjson", "#!lua", "KEYS[16]");
    }
  }

  @Test
  void noScriptUsesAKeyThatWasNotGiven() throws IOException {
    String names = String.join("|", Keys.SUFFIXES).toUpperCase(Locale.ROOT);
    Pattern key = Pattern.compile("(?:" + names + "|KEYS\\[i\\]|key|set|channel)[,)]?.*");
    for (String file : everyFile()) {
      if (!file.equals("lib/keys")) {
        assertThat(code(file).replace("KEYS[i]", "")).as(file).doesNotContain("KEYS");
      }
      Matcher call =
          Pattern.compile(
                  "redis\\.p?call\\(\\s*(?:'MEMORY', 'USAGE'|'[A-Z]+'"
                      + "|[a-z_\\[\\]A-Z]+\\[TYPES\\[i\\]\\]), *(.*)")
              .matcher(code(file));
      while (call.find()) {
        assertThat(call.group(1)).as(file).matches(key);
      }
      long calls = Pattern.compile("redis\\.p?call\\(").matcher(code(file)).results().count();
      long understood = call.reset().results().count();
      assertThat(understood).as(file).isEqualTo(file.equals("lib/now") ? 0 : calls);
    }
  }

  private static List<String> everyFile() throws IOException {
    return Stream.concat(scripts(), files(LUA.resolve("lib")).map(name -> "lib/" + name)).toList();
  }

  private static List<Integer> numbers(String code, String pattern) {
    return Pattern.compile(pattern)
        .matcher(code)
        .results()
        .map(MatchResult::group)
        .map(text -> Integer.valueOf(text.replaceAll("\\D", "")))
        .distinct()
        .sorted()
        .toList();
  }

  private static List<Integer> upTo(int first, int last) {
    return IntStream.rangeClosed(first, last).boxed().toList();
  }

  /** Ends a call at the moment at which it would go to Redis. */
  private static final class Passed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<byte[]> values;

    Passed(byte[][] values) {
      this.values = List.of(values);
    }
  }

  private static List<byte[]> passed(String script, Bucket bucket) {
    String sha1 = LuaScript.load(script, LuaScript::read).sha1();
    RedisScriptingCommands commands =
        answering(
            RedisScriptingCommands.class,
            (proxy, method, args) -> {
              assertThat(method.getName()).isEqualTo("evalSha");
              assertThat(BucketReader.text((byte[]) args[0])).isEqualTo(sha1);
              assertThat(args[2]).isEqualTo(Keys.SUFFIXES.size());
              throw new Passed((byte[][]) args[3]);
            });
    RedisConnection connection =
        answering(
            RedisConnection.class,
            (proxy, method, args) -> method.getName().equals("close") ? null : commands);
    RedisConnectionFactory connections =
        answering(RedisConnectionFactory.class, (proxy, method, args) -> connection);
    JobStore store =
        RedisStore.connect(
                connections,
                new StoreOptions(
                    "p",
                    StoreOptions.DEFAULTS.tombstones(),
                    Durability.parse("redis", Duration.ofSeconds(1))))
            .jobs();
    try {
      Calls.make(script, store, bucket);
      throw new AssertionError("nothing was sent");
    } catch (Passed e) {
      return e.values;
    }
  }

  private static <T> T answering(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
