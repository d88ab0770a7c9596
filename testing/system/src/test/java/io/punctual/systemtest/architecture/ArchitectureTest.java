package io.punctual.systemtest.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What must stay true of the code, whoever changes it. */
class ArchitectureTest {

  private static final Modules MODULES = Modules.read();

  private static final String PRIMITIVE = "(boolean|byte|char|double|float|int|long|short|void)";

  private static final DescribedPredicate<JavaClass> REDIS =
      resideInAnyPackage("redis.clients..", "org.springframework.data.redis..", "io.lettuce..");

  @ParameterizedTest
  @MethodSource("modules")
  void everyModuleIsRead(String module) {
    assertThat(MODULES.size(module)).isPositive();
  }

  static Set<String> modules() {
    return Modules.names();
  }

  @Test
  void everyModuleOfTheBuildHasItsPlaceAmongTheArrows() throws Exception {
    assertThat(MODULES.unnamed()).isEmpty();
  }

  @Test
  void modulesKnowOnlyWhatTheDesignLetsThemKnow() {
    assertThat(MODULES.forbidden()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("compiledAgainst")
  void whatApplicationsCompileAgainstRunsOnJava17(String module) {
    assertThat(MODULES.classFileVersion(module)).isLessThanOrEqualTo(61);
  }

  static Set<String> compiledAgainst() {
    Set<String> names =
        new TreeSet<>(
            Set.of(
                "scheduler-api",
                "scheduler-client",
                "scheduler-core",
                "scheduler-spring",
                "scheduler-plugin-starter",
                "punctual-amqp",
                "scheduler-dev-redis",
                "scheduler-test",
                "plain-java"));
    names.retainAll(Modules.names());
    return names;
  }

  @ParameterizedTest
  @ValueSource(strings = {"scheduler-server", "eureka-registry", "demo-order-service"})
  void theLauncherRunsOnJava8ToSayThatItIsTooOld(String program) {
    assertThat(MODULES.classFileVersion(program, "io.punctual.launch.Launcher")).isEqualTo(52);
  }

  @ParameterizedTest
  @ValueSource(strings = {"core", "server", "client", "spring"})
  void packagesAreFreeOfCycles(String module) {
    check(slices().matching("io.punctual." + module + ".(*)..").should().beFreeOfCycles());
  }

  @Test
  void theApiNeedsNothingButTheJdk() {
    for (JavaClass type : MODULES.of("scheduler-api")) {
      assertThat(type.getDirectDependenciesFromSelf())
          .extracting(dependency -> dependency.getTargetClass().getBaseComponentType().getName())
          .allMatch(
              name ->
                  name.matches(
                      PRIMITIVE + "|(java|javax\\.crypto|org\\.jspecify|io\\.punctual)\\..*"));
    }
  }

  @Test
  void theEngineKnowsNoWebNoRegistryAndNoSpringBoot() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.punctual.core..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                    "org.springframework.boot..",
                    "org.springframework.web..",
                    "org.springframework.http..",
                    "org.springframework.cloud..",
                    "com.netflix..",
                    "jakarta..",
                    "java.net.http..")));
  }

  @Test
  void workersAndTransactionsKnowNoBootNoWebNoRegistryAndNoStore() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.punctual.spring",
                "io.punctual.spring.jdbc..",
                "io.punctual.spring.observation..",
                "io.punctual.spring.once..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                    "org.springframework.boot..",
                    "org.springframework.web..",
                    "org.springframework.http..",
                    "org.springframework.cloud..",
                    "org.springframework.data..",
                    "redis.clients..",
                    "com.netflix..",
                    "jakarta..",
                    "java.net.http..")));
  }

  @Test
  void aModeKnowsNothingOfTheOther() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.punctual.spring.client..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage("io.punctual.spring.plugin..", "io.punctual.core..")));
    check(
        noClasses()
            .that()
            .resideInAPackage("io.punctual.spring.plugin..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                        "io.punctual.client..",
                        "org.springframework.web..",
                        "org.springframework.cloud..",
                        "com.netflix..",
                        "jakarta..")
                    .and(
                        not(
                            resideInAnyPackage(
                                "io.punctual.client.run..", "io.punctual.client.lease..")))));
  }

  @Test
  void theHttpApiKnowsNeitherRegistryNorDispatch() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.punctual.server.rest..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                    "io.punctual.server.registry..",
                    "io.punctual.server.dispatch..",
                    "org.springframework.cloud..",
                    "com.netflix..")));
  }

  @Test
  void nobodyImportsTheHttpApi() {
    check(
        noClasses()
            .that(not(resideInAPackage("io.punctual.server.rest..")))
            .should()
            .dependOnClassesThat(resideInAPackage("io.punctual.server.rest..")));
  }

  @Test
  void useCasesKnowNoneOfTheirAdapters() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.punctual.server.jobs..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                    "io.punctual.server.rest..",
                    "io.punctual.server.command..",
                    "io.punctual.server.console..",
                    "io.punctual.server.input..",
                    "io.punctual.server.web..")));
  }

  /** The wiring hands a connection factory to the store; each class that does so is named here. */
  @Test
  void onlyTheStoreAndTheWiringTouchRedis() {
    Set<String> touching = new TreeSet<>();
    for (JavaClass type : MODULES.classes()) {
      boolean store =
          resideInAnyPackage("io.punctual.core.store.redis..", "io.punctual.test..").test(type);
      if (!store
          && type.getDirectDependenciesFromSelf().stream()
              .anyMatch(dependency -> REDIS.test(dependency.getTargetClass()))) {
        touching.add(outermost(type).getName());
      }
    }
    assertThat(touching)
        .containsExactly(
            "io.punctual.plugin.LettuceToJedis",
            "io.punctual.plugin.PluginRedis",
            "io.punctual.plugin.PunctualPluginRedisAutoConfiguration",
            "io.punctual.plugin.Tls",
            "io.punctual.server.StartupReport",
            // Credentials, the audit and what operations did are no jobs: they are kept beside
            // them.
            "io.punctual.server.audit.AuditLog",
            // They try what the store needs on connections of their own.
            "io.punctual.server.check.CommandProbes",
            "io.punctual.server.check.RedisCheck",
            "io.punctual.server.check.RedisUrl",
            "io.punctual.server.cli.Commands",
            "io.punctual.server.engine.EngineConfiguration",
            // What schedulers remember of a day is no job either.
            "io.punctual.server.history.History",
            "io.punctual.server.history.Samplers",
            // The Redis of another library.
            "io.punctual.server.migrate.ImportCommand",
            "io.punctual.server.migrate.OldLibrary",
            "io.punctual.server.migrate.OldQueue",
            "io.punctual.server.operation.OperationLog",
            "io.punctual.server.security.ApplicationTokens",
            "io.punctual.server.security.SecurityConfiguration");
  }

  @Test
  void theClockOfTheSchedulerDecidesNothing() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.punctual.core..",
                "io.punctual.server.input..",
                "io.punctual.server.rest..",
                "io.punctual.server.command..")
            .should()
            .accessTargetWhere(
                calls("java.lang.System", "currentTimeMillis")
                    .or(calls("java.time.Instant", "now"))
                    .or(calls("java.time.Clock", "systemUTC"))
                    .or(calls("java.time.Clock", "systemDefaultZone"))
                    .or(calls("java.time.InstantSource", "system"))
                    .or(calls("java.util.Date", "<init>"))));
  }

  @Test
  void nobodySleepsInTheEngine() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.punctual.core..", "io.punctual.server..", "io.punctual.spring.plugin..")
            // A command has nothing else to do meanwhile.
            .and()
            .resideOutsideOfPackage("io.punctual.server.migrate..")
            .should()
            .accessTargetWhere(calls("java.lang.Thread", "sleep")));
  }

  @Test
  void theClientNeedsNothingButTheJdkAndALog() {
    for (JavaClass type : MODULES.of("scheduler-client")) {
      boolean port = type.getPackageName().equals("io.punctual.client.json");
      assertThat(type.getDirectDependenciesFromSelf())
          .extracting(dependency -> dependency.getTargetClass().getBaseComponentType().getName())
          .allMatch(
              name ->
                  name.matches(
                      PRIMITIVE
                          + "|(java|javax\\.net\\.ssl|com\\.sun\\.net\\.httpserver|org\\.slf4j"
                          + "|org\\.jspecify|io\\.punctual)\\..*"
                          + (port ? "|(com\\.fasterxml|tools)\\.jackson\\..*" : "")));
    }
  }

  /** Applications without Spring may have Jackson 2 alone. */
  @Test
  void jsonIsReadWithJackson3() {
    check(
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.punctual.client.json.Jackson2Json")
            // Curator's types have the annotations of Jackson 2.
            .and()
            .doNotHaveFullyQualifiedName("io.punctual.server.registry.ZookeeperEntries")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                    "com.fasterxml.jackson.databind..", "com.fasterxml.jackson.core..")));
  }

  @Test
  void nothingThatComesInIsEverRun() {
    check(
        // The expressions of events of Spring Modulith stand in the application's annotations.
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.punctual.spring.modulith.ExternalizedJobs")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage("javax.script..", "org.springframework.expression..")
                    .or(
                        belongToAnyOf(
                            java.io.ObjectInputStream.class,
                            java.beans.XMLDecoder.class,
                            java.net.URLClassLoader.class,
                            javax.tools.JavaCompiler.class))));
    check(
        noClasses()
            .should()
            .accessTargetWhere(
                calls("tools.jackson.databind.json.JsonMapper$Builder", "activateDefaultTyping")));
  }

  /**
   * The launcher starts the class that its own jar names; the others ask by constant names for what
   * a newer JDK has.
   */
  @Test
  void classesAndMethodsAreLookedUpByNameInThreePlacesOnly() {
    DescribedPredicate<JavaAccess<?>> lookUp =
        calls("java.lang.Class", "forName")
            .or(calls("java.lang.ClassLoader", "loadClass"))
            .or(calls("java.lang.Class", "getMethod"))
            .or(calls("java.lang.Class", "getDeclaredMethod"))
            .or(calls("java.lang.reflect.Method", "invoke"))
            .or(calls("java.lang.invoke.MethodHandles$Lookup", "defineClass"))
            .or(calls("java.lang.invoke.MethodHandles$Lookup", "findVirtual"))
            .or(calls("java.lang.invoke.MethodHandles$Lookup", "findStatic"));
    assertThat(whoDoes(lookUp))
        .containsExactly(
            "io.punctual.client.run.Threads",
            "io.punctual.core.work.Threads",
            "io.punctual.launch.Launcher");
  }

  /** What a script says is in the files that are delivered, and nothing is put into its text. */
  @Test
  void scriptsComeFromTheirFilesAlone() {
    String store = "io.punctual.core.store.redis.script.";
    assertThat(whoDoes(calls(store + "LuaScript", "<init>"))).containsExactly(store + "LuaScript");
    assertThat(whoDoes(calls(store + "LuaScript", "load"))).containsExactly(store + "LuaScript");
    // Once for each store, while it is made: no script is read later.
    assertThat(whoDoes(calls(store + "LuaScript", "all")))
        .containsExactly("io.punctual.core.store.redis.RedisStore", store + "LuaScript");
    assertThat(whoDoes(calls(store + "LuaScript", "read")))
        .containsExactly(store + "LuaScript", store + "TimeSource");
    assertThat(
            whoDoes(
                describe(
                    "running or loading a script",
                    access ->
                        REDIS.test(access.getTargetOwner())
                            && access
                                .getTarget()
                                .getName()
                                .matches("(?i)(eval|evalsha|script|function|fcall).*"))))
        // The command check-redis tries single calls in scripts of one line.
        .containsExactly(store + "ScriptRunner", "io.punctual.server.check.CommandProbes");
  }

  private static Set<String> whoDoes(DescribedPredicate<? super JavaAccess<?>> access) {
    Set<String> names = new TreeSet<>();
    for (JavaClass type : MODULES.classes()) {
      // Programs that measure and test are not what is delivered.
      if (!resideInAnyPackage(
              "io.punctual.benchmark..", "io.punctual.systemtest..", "io.punctual.test..")
          .test(type)) {
        type.getAccessesFromSelf().stream()
            .filter(access)
            .forEach(found -> names.add(outermost(type).getName()));
      }
    }
    return names;
  }

  @Test
  void onlyLaunchersStartProcesses() {
    check(
        noClasses()
            .that(
                resideInAPackage("io.punctual..")
                    .and(
                        not(
                            resideInAnyPackage(
                                "io.punctual.redis..",
                                "io.punctual.test.redis..",
                                "io.punctual.test.rabbitmq..",
                                "io.punctual.test.database..",
                                "io.punctual.systemtest.."))))
            .should()
            .dependOnClassesThat(belongToAnyOf(ProcessBuilder.class, Process.class)));
  }

  @Test
  void everyPackageSaysWhatItIsAndIsNullMarked() {
    Set<String> marked = new TreeSet<>();
    Set<String> all = new TreeSet<>();
    for (JavaClass type : MODULES.classes()) {
      if (type.getPackageName().equals("io.punctual.launch")) {
        // Java 8 does not know the annotation's targets.
        continue;
      }
      all.add(type.getPackageName());
      if (type.getSimpleName().equals("package-info") && type.isAnnotatedWith(NullMarked.class)) {
        marked.add(type.getPackageName());
      }
    }
    assertThat(marked).isEqualTo(all);
  }

  @Test
  void dependenciesAreHandedInByConstructors() {
    check(
        fields()
            .should()
            .notBeAnnotatedWith("org.springframework.beans.factory.annotation.Autowired"));
  }

  @Test
  void codeThatSpringGeneratesSeesTheTypesOfBeans() {
    check(
        methods()
            .that()
            .areAnnotatedWith("org.springframework.context.annotation.Bean")
            .should()
            .haveRawReturnType(
                describe(
                    "not private", type -> !type.getModifiers().contains(JavaModifier.PRIVATE))));
  }

  @Test
  void namesSayWhatSomethingIs() {
    check(
        noClasses()
            .should()
            .haveSimpleNameEndingWith("Impl")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Manager"));
    check(
        noClasses()
            .should()
            .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..misc.."));
    check(
        classes()
            .that()
            .areAssignableTo(Throwable.class)
            .should(haveSimpleNameEnding("Exception")));
    check(
        classes()
            .that()
            .areMetaAnnotatedWith("org.springframework.stereotype.Controller")
            .and()
            .areNotAssignableTo("org.springframework.boot.webmvc.error.ErrorController")
            .should(haveSimpleNameEnding("Controller")));
    check(
        classes()
            .that()
            .areAnnotatedWith("org.springframework.boot.context.properties.ConfigurationProperties")
            .should(haveSimpleNameEnding("Properties")));
  }

  private static com.tngtech.archunit.lang.ArchCondition<JavaClass> haveSimpleNameEnding(
      String end) {
    return com.tngtech.archunit.lang.ArchCondition.from(simpleNameEndingWith(end));
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }

  private static DescribedPredicate<JavaAccess<?>> calls(String owner, String method) {
    return describe(
        owner + "." + method,
        access -> {
          AccessTarget target = access.getTarget();
          return target.getOwner().getName().equals(owner) && target.getName().equals(method);
        });
  }

  private static void check(ArchRule rule) {
    rule.check(MODULES.classes());
  }
}
