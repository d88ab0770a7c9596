package io.punctual.systemtest;

import java.util.Locale;
import java.util.stream.Stream;

/**
 * A cell of the table in docs/choose.md.
 *
 * @param way how jobs come
 * @param registry where the application is registered, and finds schedulers
 * @param platform what the application is built on
 */
public record Combination(Way way, Registry registry, Platform platform) {

  /** How jobs come. */
  public enum Way {
    PUSH,
    PULL,
    PLUGIN;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Where the application is registered, and finds schedulers. */
  public enum Registry {
    EUREKA("Eureka"),
    ZOOKEEPER("ZooKeeper"),
    NONE("none");

    private final String title;

    Registry(String title) {
      this.title = title;
    }

    @Override
    public String toString() {
      return title;
    }
  }

  /** What the application is built on. */
  public enum Platform {
    BOOT_35("Boot 3.5"),
    BOOT_40("Boot 4.0"),
    BOOT_41("Boot 4.1"),
    WEBFLUX("WebFlux"),
    PLAIN_JAVA("plain Java"),
    KOTLIN("Kotlin");

    private final String title;

    Platform(String title) {
      this.title = title;
    }

    @Override
    public String toString() {
      return title;
    }
  }

  /** Those that no other test has, row by row. */
  public static Stream<Combination> all() {
    return Stream.of(Way.values())
        .flatMap(
            way ->
                Stream.of(Registry.values())
                    .flatMap(
                        registry ->
                            Stream.of(Platform.values())
                                .map(platform -> new Combination(way, registry, platform))))
        .filter(Combination::hasNoOtherTest);
  }

  private boolean hasNoOtherTest() {
    return switch (platform) {
      case BOOT_35 -> way == Way.PULL && registry == Registry.ZOOKEEPER;
      case BOOT_40 -> way == Way.PLUGIN || registry == Registry.ZOOKEEPER;
      case BOOT_41 ->
          registry == Registry.ZOOKEEPER
              ? way != Way.PUSH
              : way == Way.PLUGIN && registry == Registry.EUREKA;
      case WEBFLUX -> way == Way.PLUGIN || registry != Registry.NONE;
      case PLAIN_JAVA -> way != Way.PLUGIN && registry != Registry.NONE;
      case KOTLIN -> way != Way.PUSH || registry != Registry.EUREKA;
    };
  }

  /** As the table names the row. */
  public String row() {
    return way + ", " + registry;
  }

  /** As the table names the column. */
  public String column() {
    return platform.toString();
  }

  /** A name for its application. */
  String application() {
    return "%s-%s-%s"
        .formatted(way, registry, platform)
        .toLowerCase(Locale.ROOT)
        .replaceAll("[ .]", "-");
  }

  @Override
  public String toString() {
    return row() + ", " + column();
  }
}
