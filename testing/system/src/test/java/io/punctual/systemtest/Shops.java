package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static java.util.function.Predicate.not;

import io.punctual.redis.Ports;
import io.punctual.systemtest.guide.first.FirstShop;
import io.punctual.systemtest.guide.plain.PlainShop;
import io.punctual.wire.CallbackSignature;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A shop that closes an order, for each combination, and the system around all of them. */
record Shops(
    JavaProcess eureka,
    JavaProcess zookeeper,
    JavaProcess scheduler,
    String keyPrefix,
    String signingKey) {

  /** What plugin mode needs and others may have, too. */
  private static final Pattern FOR_REDIS =
      Pattern.compile(
          "(scheduler-core|redis-authx-core|commons-pool2|gson|json|netty-|reactor-core|reactive-streams"
              + "|spring-(tx|oxm|context-support)|spring-boot-(netty|persistence|transaction)).*");

  /** What plugin mode needs in newer versions than Spring Boot 4.0 has. */
  private static final Pattern DATA_REDIS = Pattern.compile("(spring-data|jedis|lettuce)-.*");

  private static final String KOTLIN_SHOP = "io.punctual.example.kotlin.KotlinShopKt";

  /** The shop, not started. Its order is 1001. */
  JavaProcess shop(Combination it) {
    int port = Ports.free();
    return shop(it, port, candidates(it));
  }

  /** The shop on Spring Boot 4.0 in plugin mode, with the Redis libraries of that. */
  JavaProcess pluginWithOlderLibraries() {
    Combination it =
        new Combination(
            Combination.Way.PLUGIN, Combination.Registry.NONE, Combination.Platform.BOOT_40);
    return shop(it, Ports.free(), Stream.concat(Stream.of(tests()), libraries("worker-boot40")));
  }

  private JavaProcess shop(Combination it, int port, Stream<Path> candidates) {
    List<String> words = new ArrayList<>(List.of("-cp", classPath(it, candidates), main(it)));
    words.addAll(
        it.platform() == Combination.Platform.PLAIN_JAVA ? arguments(it, port) : options(it, port));
    return PROGRAMS.foreign(
        Path.of(System.getProperty("java.home")), Path.of(""), it.application(), words, port);
  }

  private static String main(Combination it) {
    return switch (it.platform()) {
      case BOOT_35, BOOT_40, BOOT_41, WEBFLUX -> FirstShop.class.getName();
      case PLAIN_JAVA -> PlainShop.class.getName();
      case KOTLIN -> KOTLIN_SHOP;
    };
  }

  private List<String> arguments(Combination it, int port) {
    return List.of(
        it.application(),
        Integer.toString(port),
        it.way().toString(),
        key(it),
        it.registry().name().toLowerCase(Locale.ROOT),
        switch (it.registry()) {
          case EUREKA -> eureka.url() + "/eureka/";
          case ZOOKEEPER -> zookeeper.address();
          case NONE -> scheduler.url();
        });
  }

  private String key(Combination it) {
    return CallbackSignature.Key.derived(signingKey, it.application()).reveal();
  }

  private List<String> options(Combination it, int port) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--spring.application.name=" + it.application(),
                "--server.address=127.0.0.1",
                "--server.port=" + port));
    switch (it.registry()) {
      case EUREKA ->
          options.addAll(
              List.of(
                  Programs.eureka(eureka),
                  "--eureka.instance.hostname=127.0.0.1",
                  "--eureka.instance.instance-id=" + it.application() + ":" + port,
                  "--punctual.eureka.fast=true"));
      case ZOOKEEPER -> options.addAll(Programs.zookeeper(zookeeper));
      case NONE -> {
        if (it.way() != Combination.Way.PLUGIN) {
          options.add("--punctual.url=" + scheduler.url());
        }
      }
    }
    switch (it.way()) {
      case PUSH -> options.add(Programs.SECRETS + key(it));
      case PULL -> options.add("--punctual.delivery=pull");
      case PLUGIN ->
          options.addAll(
              List.of(
                  "--spring.data.redis.host=127.0.0.1",
                  "--spring.data.redis.port=" + REDIS.port(),
                  "--punctual.key-prefix=" + keyPrefix));
    }
    return options;
  }

  private static String classPath(Combination it, Stream<Path> candidates) {
    Predicate<String> jars = wanted(it);
    Map<String, Path> path = new LinkedHashMap<>();
    candidates
        .filter(entry -> Files.isDirectory(entry) || jars.test(entry.getFileName().toString()))
        .forEach(entry -> path.putIfAbsent(artifact(entry), entry));
    return path.values().stream()
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static Predicate<String> wanted(Combination it) {
    Predicate<String> registry =
        switch (it.registry()) {
          case EUREKA -> RegistryClient.EUREKA.alone();
          case ZOOKEEPER -> RegistryClient.ZOOKEEPER.alone();
          case NONE -> not(RegistryClient::isOfAny);
        };
    Predicate<String> starter =
        it.way() == Combination.Way.PLUGIN
            ? jar -> !jar.startsWith("scheduler-client-starter-")
            : not(Programs::isOfPluginMode);
    Predicate<String> platform =
        switch (it.platform()) {
          case WEBFLUX -> not(Programs::isOfServlets);
          // Spring Cloud's part in Eureka's client, and no other of Spring.
          case PLAIN_JAVA ->
              jar -> it.registry() == Combination.Registry.EUREKA || !jar.startsWith("spring-");
          case BOOT_35, BOOT_40, BOOT_41, KOTLIN -> jar -> true;
        };
    // Kubernetes' client has it, too.
    return registry
        .or(jar -> it.platform() == Combination.Platform.KOTLIN && jar.startsWith("kotlin-"))
        .and(starter)
        .and(platform)
        .and(not(Programs::isOfRabbitMq));
  }

  /** What may be on the class path; of two versions of a library, the first is taken. */
  private static Stream<Path> candidates(Combination it) {
    Stream<Path> plugin =
        it.way() == Combination.Way.PLUGIN
            ? libraries("demo-order-plugin")
                .filter(
                    jar ->
                        Programs.isOfPluginMode(name(jar))
                            || FOR_REDIS.matcher(name(jar)).matches())
            : Stream.empty();
    return switch (it.platform()) {
      case BOOT_35 -> Stream.concat(Stream.of(tests()), libraries("worker-boot35"));
      case BOOT_40 ->
          // As docs/plugin.md says.
          Stream.of(
                  Stream.of(tests()),
                  plugin.filter(jar -> DATA_REDIS.matcher(name(jar)).matches()),
                  libraries("worker-boot40"))
              .flatMap(jars -> jars);
      case BOOT_41, WEBFLUX, PLAIN_JAVA -> Stream.concat(ofThisJvm(), plugin);
      case KOTLIN ->
          Stream.of(
                  // Not its jar, whose manifest names all libraries.
                  Stream.of(ModuleDirectory.of("kotlin-shop").resolve("target").resolve("classes")),
                  libraries("kotlin-shop"),
                  ofThisJvm()
                      .filter(
                          jar ->
                              RegistryClient.ZOOKEEPER.has(name(jar))
                                  || name(jar).startsWith("netty-")),
                  plugin)
              .flatMap(jars -> jars);
    };
  }

  private static Stream<Path> ofThisJvm() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of);
  }

  private static Path tests() {
    return Path.of(
        URI.create(FirstShop.class.getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  private static Stream<Path> libraries(String module) {
    try (Stream<Path> libraries =
        Files.list(ModuleDirectory.of(module).resolve("target").resolve("lib"))) {
      return libraries.sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(Path jar) {
    return jar.getFileName().toString();
  }

  private static String artifact(Path entry) {
    // With the major version: Jackson 2 and 3 are two.
    return Files.isDirectory(entry)
        ? entry.toString()
        : name(entry).replaceFirst("(-\\d+)\\..*", "$1");
  }
}
