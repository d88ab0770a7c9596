package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.store.redis.script.Keys;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/**
 * What docs/redis.acl and docs/redis-cluster.acl allow is what we call: no command is missing, none
 * is too many. The commands are those that Redis counts while all is asked that is ever asked.
 */
class RedisAclIT {

  /** Writes the files anew. */
  private static final String WRITE = "punctual.acl.write";

  private static final String BINARY = "punctual.redis.binary";
  private static final String PREFIX = "punctual";

  /** Asked for, and done without where it is refused. */
  private static final Set<String> OPTIONAL = Set.of("config|get", "client|setinfo");

  private static RedisServer start(String binary, String... arguments) {
    String before = System.getProperty(BINARY);
    if (!binary.isEmpty()) {
      System.setProperty(BINARY, binary);
    }
    try {
      return RedisServer.startTemporary(arguments);
    } finally {
      if (before == null) {
        System.clearProperty(BINARY);
      } else {
        System.setProperty(BINARY, before);
      }
    }
  }

  // Connections that are idle are looked at soon, and not after half a minute.
  private static JedisClientConfiguration pool() {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setTimeBetweenEvictionRuns(Duration.ofMillis(50));
    return JedisClientConfiguration.builder().usePooling().poolConfig(pool).build();
  }

  private static JedisConnectionFactory connect(int port, boolean restricted) {
    RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", port);
    if (restricted) {
      server.setUsername(AclFile.USER);
      server.setPassword(AclFile.PASSWORD);
    }
    return StandaloneStoreIT.started(new JedisConnectionFactory(server, pool()));
  }

  private static JedisConnectionFactory connect(RedisCluster cluster, boolean restricted) {
    RedisClusterConfiguration servers = new RedisClusterConfiguration(cluster.addresses());
    if (restricted) {
      servers.setUsername(AclFile.USER);
      servers.setPassword(AclFile.PASSWORD);
    }
    return StandaloneStoreIT.started(new JedisConnectionFactory(servers, pool()));
  }

  private static CommandWatch asked(
      Supplier<JedisConnectionFactory> connecting, List<Integer> servers, Asking asking)
      throws Exception {
    CommandWatch watch = new CommandWatch(servers);
    JedisConnectionFactory connections = connecting.get();
    try {
      asking.ask(new AllThatIsAsked(connections, PREFIX, servers));
      // Whoever stops listening says so in its own time, and the pool looks in its own.
      StoreContract.eventually()
          .until(() -> watch.executed().containsAll(List.of("unsubscribe", "ping")));
    } finally {
      connections.destroy();
    }
    return watch;
  }

  private interface Asking {
    void ask(AllThatIsAsked all) throws Exception;
  }

  private static void compare(AclFile file, CommandWatch watch) {
    Set<String> needed = new TreeSet<>(watch.executed());
    needed.removeAll(watch.known(OPTIONAL));
    if (watch.isFine() && Boolean.getBoolean(WRITE)) {
      file.replace(needed);
      return;
    }
    Set<String> missing = new TreeSet<>(needed);
    missing.removeAll(watch.known(file.commands()));
    Set<String> tooMany = new TreeSet<>(watch.known(file.commands()));
    tooMany.removeAll(needed);
    assertThat(missing.isEmpty() && tooMany.isEmpty())
        .as(
            "%s lacks %s, and need not have %s; mvn verify -pl scheduler-core -am"
                + " -Dit.test=RedisAclIT -DargLine=-D%s=true (and so on, as in docs/testing.md)"
                + " writes it anew, on Redis 7",
            file.path(), missing, tooMany, WRITE)
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "embedded"})
  void theFileAllowsWhatIsCalledAndNothingElse(String binary) throws Exception {
    try (RedisServer redis = start(binary)) {
      CommandWatch watch =
          asked(
              () -> connect(redis.port(), /* restricted= */ false),
              List.of(redis.port()),
              AllThatIsAsked::ask);
      compare(AclFile.standalone(), watch);
    }
  }

  @Test
  void theFileForAClusterAllowsWhatIsCalledAndNothingElse() throws Exception {
    try (RedisCluster cluster = RedisCluster.start()) {
      CommandWatch watch =
          asked(
              () -> connect(cluster, /* restricted= */ false),
              cluster.ports(),
              all -> {
                all.ask();
                askWhileASlotMoves(cluster, all);
              });
      compare(AclFile.cluster(), watch);
      Set<String> others = AclFile.cluster().commands();
      others.removeAll(AclFile.standalone().commands());
      assertThat(others).allMatch(command -> command.matches("asking|cluster\\|.*"));
    }
  }

  private static void askWhileASlotMoves(RedisCluster cluster, AllThatIsAsked all)
      throws Exception {
    RedisServer from = cluster.ownerOf(PREFIX + ":queues");
    int to = cluster.ports().stream().filter(port -> port != from.port()).findFirst().orElseThrow();
    String slot = Resp.call(to, "CLUSTER", "KEYSLOT", PREFIX + ":queues");
    String old = Resp.call(from.port(), "CLUSTER", "MYID");
    Resp.call(from.port(), "DEL", PREFIX + ":queues");
    Resp.call(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", old);
    Resp.call(
        from.port(), "CLUSTER", "SETSLOT", slot, "MIGRATING", Resp.call(to, "CLUSTER", "MYID"));
    try {
      assertThat(all.queues()).isZero();
    } finally {
      Resp.call(from.port(), "CLUSTER", "SETSLOT", slot, "STABLE");
      Resp.call(to, "CLUSTER", "SETSLOT", slot, "STABLE");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "embedded"})
  void allIsDoneWithTheseRights(String binary) throws Exception {
    try (RedisServer redis = start(binary)) {
      Resp.call(redis.port(), AclFile.standalone().setUser(PREFIX));
      CommandWatch watch =
          asked(
              () -> connect(redis.port(), /* restricted= */ true),
              List.of(redis.port()),
              AllThatIsAsked::ask);
      assertThat(watch.known(OPTIONAL)).containsAll(watch.refused());
    }
  }

  @Test
  void allIsDoneWithTheseRightsInACluster() throws Exception {
    try (RedisCluster cluster = RedisCluster.start()) {
      for (int port : cluster.ports()) {
        Resp.call(port, AclFile.cluster().setUser(PREFIX));
      }
      CommandWatch watch =
          asked(
              () -> connect(cluster, /* restricted= */ true),
              cluster.ports(),
              all -> {
                all.ask();
                askWhileASlotMoves(cluster, all);
              });
      assertThat(watch.known(OPTIONAL)).containsAll(watch.refused());
    }
  }

  @Test
  void whatScriptsNameIsAllowedEvenIfTheTestNeverCameThere() throws Exception {
    Pattern call = Pattern.compile("redis\\.p?call\\(\\s*'(\\w+)'(?:, '(\\w+)')?");
    Set<String> named = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/lua"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".lua")).toList()) {
        Matcher matcher = call.matcher(Files.readString(file));
        while (matcher.find()) {
          String part = matcher.group(2) == null ? "" : "|" + matcher.group(2);
          named.add((matcher.group(1) + part).toLowerCase(Locale.ROOT));
        }
      }
    }
    assertThat(named).contains("time", "zrange", "publish");
    assertThat(AclFile.standalone().commands()).containsAll(named);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "embedded"})
  void redisReadsTheFileAndLetsNobodyInWithoutAPassword(String binary) throws Exception {
    Path file = Files.createTempFile("punctual-users", ".acl");
    Files.writeString(
        file,
        "user default on nopass ~* &* +@all\n" + String.join(" ", AclFile.standalone().words()));
    try (RedisServer redis = start(binary, "--aclfile", file.toString())) {
      assertThat(Resp.call(redis.port(), "ACL", "LIST")).contains("user punctual on ");
      for (String password : new String[] {"", "punctual", "nopass"}) {
        assertThatThrownBy(() -> Resp.call(redis.port(), "AUTH", AclFile.USER, password))
            .hasMessageContaining("WRONGPASS");
      }
    } finally {
      Files.delete(file);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "embedded"})
  void nothingElseIsAllowed(String binary) throws Exception {
    try (RedisServer redis = start(binary)) {
      Resp.call(redis.port(), AclFile.standalone().setUser(PREFIX));
      JedisConnectionFactory connections = connect(redis.port(), /* restricted= */ true);
      try (RedisConnection connection = connections.getConnection()) {
        for (String call :
            List.of(
                "FLUSHALL",
                "FLUSHDB",
                "KEYS *",
                "SCAN 0",
                "RANDOMKEY",
                "CONFIG GET requirepass",
                "CONFIG SET dir /tmp",
                "DEBUG SLEEP 0",
                "MODULE LIST",
                "ACL LIST",
                "CLIENT LIST",
                "CLIENT KILL TYPE normal",
                "CLUSTER NODES",
                "SHUTDOWN NOSAVE",
                "SAVE",
                "BGREWRITEAOF",
                "REPLICAOF NO ONE",
                "MIGRATE 127.0.0.1 1 punctual:queues 0 1",
                "SLOWLOG GET",
                "MONITOR",
                "SCRIPT LOAD return",
                "DUMP punctual:queues",
                "DEL punctual:queues",
                "RENAME punctual:queues punctual:x",
                "HGET other:queues x",
                "HGET punctual2:queues x",
                "HGET punctual x",
                "TYPE session:1",
                "SUBSCRIBE other",
                "PUBLISH other x",
                "PSUBSCRIBE *",
                "EVAL x 1 other",
                "SET other:x 1")) {
          assertRefused(connection, call.split(" "));
        }
        assertRefused(connection, "EVAL", "return redis.call('FLUSHALL')", "0");
        assertRefused(connection, "EVAL", "return redis.call('SET', 'other', 'x')", "0");
        assertRefused(connection, "EVAL", "return redis.call('GET', KEYS[1])", "1", "other");
        assertRefused(connection, "EVAL", "return redis.call('KEYS', '*')", "0");
      } finally {
        connections.destroy();
      }
    }
  }

  private static void assertRefused(RedisConnection connection, String... words) {
    byte[][] arguments = Arrays.stream(words).skip(1).map(Keys::bytes).toArray(byte[][]::new);
    assertThatThrownBy(() -> connection.execute(words[0], arguments))
        .as(String.join(" ", words))
        // Redis 7 refuses DEBUG and MODULE to everybody, before it looks at rights.
        .satisfies(
            e ->
                assertThat(NestedExceptionUtils.getMostSpecificCause(e).getMessage())
                    .containsPattern(
                        "NOPERM|command not allowed|can't (run|access)|[Nn]o permissions to"));
  }
}
