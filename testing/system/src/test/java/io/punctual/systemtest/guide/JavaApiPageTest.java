package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.DelayedTask;
import io.punctual.JobRequest;
import io.punctual.RetryPolicy;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.punctual.client.Workers;
import io.punctual.schedule.ScheduleRequest;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page on the Java API names every method that its types have, and every public type. */
class JavaApiPageTest {

  private static final Path ROOT = ModuleDirectory.root();

  @ParameterizedTest
  @ValueSource(
      classes = {
        TaskSubmitService.class,
        JobRequest.class,
        ScheduleRequest.class,
        DelayedTask.class,
        TaskWorker.class,
        TaskContext.class,
        Workers.class,
        PunctualClient.class,
        JobScheduler.class,
        RetryPolicy.class,
        JobListener.class,
      })
  void theTableOfATypeHasItsMethods(Class<?> type) throws IOException {
    String rows =
        section(page("java-api"), "## `" + type.getSimpleName() + "`")
            .lines()
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.split("\\|", -1)[1])
            .collect(Collectors.joining());
    assertThat(words(rows)).containsExactlyInAnyOrderElementsOf(methods(type));
  }

  /** Those that a request has as well are not named again. */
  @Test
  void theBuilderOfAJobHasTheMethodsOfARequestAndThoseThatAreNamed() throws IOException {
    Set<String> named = words(section(page("java-api"), "## `DelayQueueJob`"));
    named.addAll(methods(JobRequest.class));
    assertThat(named).containsAll(methods(DelayQueueJob.Builder.class));
  }

  @Test
  void theBuilderOfTheClientHasItsTableOnTheClientsPage() throws IOException {
    Set<String> named =
        Pattern.compile("`(\\w+)\\(")
            .matcher(page("client"))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    named.add("build");
    assertThat(named).containsAll(methods(PunctualClient.Builder.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "conflict", "schedule", "spi"})
  void everyPublicTypeIsNamed(String part) throws IOException {
    Path sources =
        ModuleDirectory.of("scheduler-api").resolve("src/main/java/io/punctual").resolve(part);
    String page = page("java-api");
    try (Stream<Path> files = Files.list(sources)) {
      assertThat(files)
          .map(file -> file.getFileName().toString())
          .filteredOn(name -> name.endsWith(".java") && !name.equals("package-info.java"))
          .isNotEmpty()
          .allSatisfy(
              name -> assertThat(page).containsPattern("`@?" + name.replace(".java", "") + "\\b"));
    }
  }

  private static Set<String> methods(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
        .map(Method::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> words(String text) {
    return Pattern.compile("`(\\w+)`")
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String section(String page, String heading) {
    Matcher section =
        Pattern.compile(Pattern.quote(heading) + "\n(.*?)(?=\n## |\\z)", Pattern.DOTALL)
            .matcher(page);
    assertThat(section.find()).as(heading).isTrue();
    return section.group(1);
  }

  private static String page(String name) throws IOException {
    return Files.readString(ROOT.resolve("docs").resolve(name + ".md"));
  }
}
