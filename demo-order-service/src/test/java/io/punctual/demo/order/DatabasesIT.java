package io.punctual.demo.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.demo.order.Order.Status;
import io.punctual.demo.order.OrderService.NewOrder;
import io.punctual.spring.outbox.Outbox;
import io.punctual.test.TestScheduler;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop on each of its databases, as it is set up by default and by its profile. */
@Tag("full")
class DatabasesIT {

  @TempDir static Path directory;
  private static EmbeddedPostgres postgres;

  @BeforeAll
  static void startDatabase() throws IOException {
    postgres = EmbeddedPostgres.builder().start();
  }

  @AfterAll
  static void stopDatabase() throws IOException {
    postgres.close();
  }

  private static Stream<List<String>> databases() {
    String postgresUrl = postgres.getJdbcUrl("postgres", "postgres").replaceAll("\\?.*", "");
    return Stream.of(
        // The address of the application, which that of the tests hides.
        List.of(
            "--spring.datasource.url=jdbc:h2:file:"
                + directory.resolve("shop").toAbsolutePath()
                + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE"),
        List.of(
            "--spring.profiles.active=postgres",
            "--spring.datasource.url=" + postgresUrl,
            "--spring.datasource.username=postgres"));
  }

  private static ConfigurableApplicationContext start(List<String> options) {
    return new SpringApplicationBuilder(OrderServiceApplication.class)
        .web(WebApplicationType.NONE)
        .run(options.toArray(String[]::new));
  }

  private static int tea(ConfigurableApplicationContext shop) {
    return shop.getBean(Items.class).all().stream()
        .filter(item -> item.name().equals("tea"))
        .findFirst()
        .orElseThrow()
        .available();
  }

  @ParameterizedTest
  @MethodSource("databases")
  void whatIsThereStaysAtTheNextStart(List<String> options) {
    Order order;
    int left;
    try (ConfigurableApplicationContext shop = start(options)) {
      order = shop.getBean(OrderService.class).place(new NewOrder("tea", "ä € 茶 🫖", 60));
      left = tea(shop);
      assertThat(shop.getBean(TestScheduler.class).find(OrderJobs.CLOSE, order.id())).isPresent();
      assertThat(shop.getBean(Outbox.class).status().waiting()).isZero();
    }
    try (ConfigurableApplicationContext shop = start(options)) {
      assertThat(shop.getBean(OrderService.class).find(order.id())).isEqualTo(order);
      assertThat(tea(shop)).isEqualTo(left);
      assertThat(shop.getBean(Orders.class).latest(1)).containsExactly(order);
    }
  }

  @ParameterizedTest
  @MethodSource("databases")
  void whatIsPaidAndClosedAtTheSameTimeIsOneOfBoth(List<String> options) throws Exception {
    try (ConfigurableApplicationContext context = start(options);
        ExecutorService threads = Executors.newFixedThreadPool(6)) {
      OrderService shop = context.getBean(OrderService.class);
      int before = tea(context);
      int paid = 0;
      for (int i = 0; i < 30; i++) {
        String id = shop.place(new NewOrder("tea", null, 60)).id();
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (int k = 0; k < 3; k++) {
          calls.add(() -> shop.closeIfUnpaid(id));
          calls.add(() -> pays(shop, id));
        }
        for (Future<Boolean> call : threads.invokeAll(calls)) {
          assertThat(call.get()).isNotNull();
        }
        Status end = shop.find(id).status();
        assertThat(end).isNotEqualTo(Status.OPEN);
        paid += end == Status.PAID ? 1 : 0;
      }
      assertThat(tea(context)).isEqualTo(before - paid);
    }
  }

  @Test
  void instancesThatStartTogetherOnAnEmptyDatabaseAllStart() throws Exception {
    try (Connection admin = postgres.getPostgresDatabase().getConnection();
        Statement statement = admin.createStatement()) {
      statement.execute("create database together");
    }
    ApplicationContextRunner shop =
        new ApplicationContextRunner()
            .withInitializer(new ConfigDataApplicationContextInitializer())
            .withConfiguration(
                AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    DataSourceInitializationAutoConfiguration.class))
            .withPropertyValues(
                "spring.profiles.active=postgres",
                "spring.datasource.url="
                    + postgres.getJdbcUrl("postgres", "together").replaceAll("\\?.*", ""),
                "spring.datasource.username=postgres");
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Callable<Boolean>> starts =
          Collections.nCopies(
              8,
              () -> {
                shop.run(context -> assertThat(context).hasNotFailed());
                return true;
              });
      for (Future<Boolean> start : threads.invokeAll(starts)) {
        assertThat(start.get()).isTrue();
      }
    }
    try (Connection together = postgres.getDatabase("postgres", "together").getConnection();
        Statement statement = together.createStatement()) {
      assertThat(statement.execute("select * from orders, punctual_outbox")).isTrue();
    }
  }

  private static boolean pays(OrderService shop, String id) {
    try {
      return shop.pay(id).status() == Status.PAID;
    } catch (OrderException e) {
      return false;
    }
  }
}
