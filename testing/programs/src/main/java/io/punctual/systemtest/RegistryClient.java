package io.punctual.systemtest;

import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A registry's client, as jars of this JVM's class path. An application has one of them, or none.
 */
enum RegistryClient {
  EUREKA("(spring-cloud-(starter-)?netflix-|eureka-client|netflix-).*"),
  ZOOKEEPER("(spring-cloud-(starter-)?zookeeper-|curator-|zookeeper-).*"),
  CONSUL("(spring-cloud-(starter-)?consul-|consul-api-).*"),
  NACOS("(spring-cloud-(starter-)?alibaba-|nacos-|logback-adapter|simpleclient).*"),
  KUBERNETES(
      "(spring-cloud-kubernetes-|client-java-|bcpkix-|bcutil-|bucket4j|caffeine-|commons-collections4"
          + "|gson-fire|jose4j|jsr305|kotlin-stdlib|logging-interceptor|okhttp-|okio-"
          + "|swagger-annotations).*",
      "(commons-compress|commons-lang3|protobuf-java)-.*");

  private static final Pattern COMMON = Pattern.compile("spring-cloud-.*");

  private final Pattern jars;
  private final Pattern needed;

  RegistryClient(String jars) {
    this(jars, "(?!)");
  }

  /**
   * @param needed jars that it needs and others have, too
   */
  RegistryClient(String jars, String needed) {
    this.jars = Pattern.compile(jars);
    this.needed = Pattern.compile(needed);
  }

  /** Whether a jar belongs beside a program that does not have this client. */
  boolean needs(String jar) {
    return has(jar) || needed.matcher(jar).matches();
  }

  /** Whether a jar is this client's alone, by the name of its file. */
  boolean has(String jar) {
    return jars.matcher(jar).matches();
  }

  /** Whether a jar is there for registries' clients, which includes what they have in common. */
  static boolean isOfAny(String jar) {
    return COMMON.matcher(jar).matches() || Stream.of(values()).anyMatch(one -> one.has(jar));
  }

  /** All jars but those of other clients. */
  Predicate<String> alone() {
    return jar -> Stream.of(values()).noneMatch(other -> other != this && other.has(jar));
  }
}
