package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Processes with an outbox in a real PostgreSQL, killed with -9: each order that was committed is
 * closed, and closed once.
 */
@Tag("full")
class OutboxCrashIT {

  private static final SharedRedis redis = RedisExtension.redis();
  private static final Path LOGS = Path.of("target", "outbox-crash");

  private static EmbeddedPostgres postgres;

  private final List<Process> processes = new ArrayList<>();
  private final String name = "t" + UUID.randomUUID().toString().substring(0, 8);
  private JdbcClient database;

  @BeforeAll
  static void startDatabase() throws IOException {
    Files.createDirectories(LOGS);
    postgres = EmbeddedPostgres.builder().start();
  }

  @AfterAll
  static void stopDatabase() throws IOException {
    postgres.close();
  }

  @BeforeEach
  void createTables() {
    JdbcClient.create(postgres.getPostgresDatabase()).sql("create database " + name).update();
    database = JdbcClient.create(postgres.getDatabase("postgres", name));
    for (String table : List.of("outbox", "once")) {
      new ResourceDatabasePopulator(
              new ClassPathResource("io/punctual/schema/postgresql/R__punctual_" + table + ".sql"))
          .execute(postgres.getDatabase("postgres", name));
    }
    database.sql("create table orders (id varchar(20) primary key)").update();
    database.sql("create table closed (id varchar(20))").update();
  }

  @AfterEach
  void killAll() {
    processes.forEach(OutboxCrashIT::kill);
  }

  @Test
  void whatWasCommittedIsSentAfterTheProcessDied() throws Exception {
    Process dying = start(OutboxShop.DIE_AFTER_COMMIT);
    int status = dying.onExit().get().exitValue();

    assertThat(status).isEqualTo(128 + 9);
    // Behind the commit, before the send.
    assertThat(count("select count(*) from orders")).isEqualTo(1);
    assertThat(count("select count(*) from punctual_outbox")).isEqualTo(1);
    assertThat(count("select count(*) from closed")).isZero();

    Process next = start(OutboxShop.RUN);
    patiently().until(() -> next.isAlive() && count("select count(*) from closed") == 1);
    patiently().until(() -> count("select count(*) from punctual_outbox") == 0);
  }

  @Test
  void whoeverIsKilledUnderLoadEachOrderIsClosedOnce() throws Exception {
    Process first = start(OutboxShop.PLACE);
    Process second = start(OutboxShop.PLACE);
    awaitMoreOrders(300);
    kill(first);
    Process third = start(OutboxShop.PLACE);
    awaitMoreOrders(300);
    kill(second);
    awaitMoreOrders(300);
    kill(third);

    Process last = start(OutboxShop.RUN);
    patiently()
        .until(
            () ->
                last.isAlive()
                    && count("select count(*) from punctual_outbox") == 0
                    && notClosed() == 0);
    assertThat(count("select count(*) from orders")).isGreaterThanOrEqualTo(900);
    assertThat(
            count("select count(*) from (select id from closed group by id having count(*) > 1) t"))
        .as("orders that were closed twice")
        .isZero();
    assertThat(count("select count(*) from closed where id not in (select id from orders)"))
        .as("jobs without an order")
        .isZero();
  }

  private long notClosed() {
    return count("select count(*) from orders where id not in (select id from closed)");
  }

  private void awaitMoreOrders(int more) {
    long before = count("select count(*) from orders");
    patiently().until(() -> count("select count(*) from orders") >= before + more);
  }

  private long count(String sql) {
    return database.sql(sql).query(Long.class).single();
  }

  private static ConditionFactory patiently() {
    return Awaitility.await().atMost(Duration.ofSeconds(90));
  }

  private static void kill(Process process) {
    // With -9.
    var unused = process.destroyForcibly().onExit().join();
  }

  private Process start(String mode) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            OutboxShop.class.getName(),
            "--" + OutboxShop.MODE + "=" + mode,
            "--spring.application.name=" + name,
            "--spring.data.redis.host=" + redis.host(),
            "--spring.data.redis.port=" + redis.port(),
            "--spring.datasource.url=" + postgres.getJdbcUrl("postgres", name),
            "--spring.main.banner-mode=off",
            "--punctual.key-prefix=" + name,
            "--punctual.outbox.enabled=true");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(
                LOGS.resolve(name + "-" + processes.size() + "-" + mode + ".log").toFile())
            .start();
    processes.add(process);
    return process;
  }
}
