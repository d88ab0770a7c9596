package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import io.punctual.redis.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The manifests of deploy/kubernetes, as a client of Kubernetes reads them. */
@Tag("full")
class KubernetesIT {

  private static final Path DIRECTORY =
      ModuleDirectory.of("scheduler-server").resolveSibling("deploy").resolve("kubernetes");
  private static final Path BASE = DIRECTORY.resolve("base");
  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Map<String, String> LABELS =
      Map.of("app.kubernetes.io/name", "punctual-scheduler");

  private static <T extends HasMetadata> T read(Class<T> kind, Path file) throws IOException {
    Object resource = YAML.unmarshal(Files.readString(file));
    assertThat(resource).as("%s", file).isInstanceOf(kind);
    return kind.cast(resource);
  }

  private static Deployment deployment() throws IOException {
    return read(Deployment.class, BASE.resolve("deployment.yaml"));
  }

  private static Container scheduler() throws IOException {
    return deployment().getSpec().getTemplate().getSpec().getContainers().get(0);
  }

  /** The settings of a directory, by the names of the environment. */
  private static Map<String, String> settings(Path directory) throws IOException {
    Map<String, String> settings = new TreeMap<>();
    for (String line : Files.readAllLines(directory.resolve("settings.env"))) {
      if (!line.isBlank() && !line.startsWith("#")) {
        int equals = line.indexOf('=');
        settings.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return settings;
  }

  @Test
  void noManifestHasAFieldThatKubernetesDoesNotKnow() throws IOException {
    JsonMapper json = JsonMapper.builder().build();
    List<Path> files;
    try (Stream<Path> all = Files.walk(DIRECTORY)) {
      files =
          all.filter(file -> file.toString().endsWith(".yaml"))
              .filter(file -> !file.endsWith("kustomization.yaml"))
              .sorted()
              .toList();
    }
    assertThat(files).hasSize(6);
    for (Path file : files) {
      HasMetadata resource = read(HasMetadata.class, file);
      assertThat(resource.getMetadata().getName()).isEqualTo("punctual-scheduler");
      assertNothingUnknown(file + "", resource);
      // What a typed object holds is what the file says.
      JsonNode written = json.readTree(YAML.asJson(resource));
      JsonNode read = json.readTree(YAML.asJson(YAML.unmarshal(Files.readString(file), Map.class)));
      assertThat(written).as("%s", file).isEqualTo(read);
    }
  }

  private static void assertNothingUnknown(String where, Object value) {
    if (value instanceof List<?> list) {
      list.forEach(item -> assertNothingUnknown(where, item));
    } else if (value != null && value.getClass().getName().startsWith("io.fabric8.")) {
      for (var method : value.getClass().getMethods()) {
        if (method.getName().startsWith("get")
            && method.getParameterCount() == 0
            && !method.getName().equals("getClass")) {
          Object part;
          try {
            part = method.invoke(value);
          } catch (ReflectiveOperationException e) {
            throw new AssertionError(where + ": " + method, e);
          }
          if (method.getName().equals("getAdditionalProperties")) {
            assertThat((Map<?, ?>) part).as("%s, of %s", where, value.getClass()).isEmpty();
          } else {
            assertNothingUnknown(where, part);
          }
        }
      }
    }
  }

  @Test
  void selectorsMatchThePodsOfTheDeployment() throws IOException {
    Deployment deployment = deployment();
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(2);
    assertThat(deployment.getSpec().getSelector().getMatchLabels()).isEqualTo(LABELS);
    assertThat(deployment.getSpec().getTemplate().getMetadata().getLabels()).isEqualTo(LABELS);
    Service service = read(Service.class, BASE.resolve("service.yaml"));
    assertThat(service.getSpec().getSelector()).isEqualTo(LABELS);
    assertThat(service.getMetadata().getLabels()).isEqualTo(LABELS);
    assertThat(
            read(PodDisruptionBudget.class, BASE.resolve("disruption-budget.yaml"))
                .getSpec()
                .getSelector()
                .getMatchLabels())
        .isEqualTo(LABELS);
    assertThat(
            read(NetworkPolicy.class, BASE.resolve("network-policy.yaml"))
                .getSpec()
                .getPodSelector()
                .getMatchLabels())
        .isEqualTo(LABELS);
    ServiceMonitor monitor =
        read(ServiceMonitor.class, DIRECTORY.resolve("overlays/production/service-monitor.yaml"));
    assertThat(monitor.getSpec().getSelector().getMatchLabels()).isEqualTo(LABELS);
    assertThat(monitor.getSpec().getEndpoints())
        .singleElement()
        .satisfies(
            endpoint -> {
              assertThat(ports(service)).containsKey(endpoint.getPort());
              assertThat(endpoint.getPath()).isEqualTo("/actuator/prometheus");
            });
  }

  private static Map<String, Integer> ports(Service service) {
    return service.getSpec().getPorts().stream()
        .collect(Collectors.toMap(ServicePort::getName, ServicePort::getPort));
  }

  @Test
  void theProbesAnswerWithTheSettingsOfTheBase() throws Exception {
    Map<String, String> settings = settings(BASE);
    Container container = scheduler();
    Map<String, Integer> ports =
        container.getPorts().stream()
            .collect(Collectors.toMap(ContainerPort::getName, ContainerPort::getContainerPort));
    assertThat(ports)
        .isEqualTo(Map.of("http", 8080, "operators", 9080))
        .isEqualTo(ports(read(Service.class, BASE.resolve("service.yaml"))));
    assertThat(settings.get("PUNCTUAL_OPERATORPORT")).isEqualTo("9080");
    // The operators' port shows that the setting was read: without it, there is none.
    int operators = Ports.free();
    settings.put("PUNCTUAL_OPERATORPORT", operators + "");
    // Of the tests' own Redis, which has no such user.
    settings.keySet().removeIf(name -> name.startsWith("SPRING_DATA_REDIS_"));
    String[] options =
        settings.entrySet().stream()
            .map(setting -> "--" + property(setting.getKey()) + "=" + setting.getValue())
            .toArray(String[]::new);
    try (JavaProcess scheduler =
        PROGRAMS
            .scheduler("http://127.0.0.1:1", REDIS.port(), "kubernetes", options)
            .start()
            .awaitReady()) {
      for (Probe probe :
          List.of(
              container.getStartupProbe(),
              container.getLivenessProbe(),
              container.getReadinessProbe())) {
        HTTPGetAction get = probe.getHttpGet();
        assertThat(get.getPort().getStrVal()).isEqualTo("operators");
        Http.Answer answer = Http.get("http://127.0.0.1:" + operators + get.getPath());
        assertThat(answer.status()).as(get.getPath()).isEqualTo(200);
      }
      assertThat(Files.readString(scheduler.log()))
          .contains("registry none (eureka.client.enabled=false)");
    }
  }

  /** The name in properties of a variable, as Spring Boot reads it. */
  private static String property(String variable) {
    return variable.toLowerCase(Locale.ROOT).replace('_', '.');
  }

  @Test
  void settingsThatAreOursAreInTheListOfProperties() throws IOException {
    String known =
        Files.readString(DIRECTORY.resolve("../../docs/properties.md"))
            .replace("-", "")
            .toLowerCase(Locale.ROOT);
    for (Path directory :
        List.of(
            BASE, DIRECTORY.resolve("overlays/production"), DIRECTORY.resolve("overlays/eureka"))) {
      assertThat(settings(directory).keySet().stream().filter(name -> name.startsWith("PUNCTUAL_")))
          .allSatisfy(name -> assertThat(known).contains("`" + property(name) + "`"));
    }
  }

  @Test
  void aPodEndsAfterItsCallsAreCompleted() throws IOException {
    Container container = scheduler();
    List<String> pause = container.getLifecycle().getPreStop().getExec().getCommand();
    assertThat(pause.get(0)).isEqualTo("sleep");
    // As spring.lifecycle.timeout-per-shutdown-phase of the scheduler.
    assertThat(deployment().getSpec().getTemplate().getSpec().getTerminationGracePeriodSeconds())
        .isGreaterThanOrEqualTo(40 + Long.parseLong(pause.get(1)));
  }

  /** Kubernetes and Docker are stand-ins, which write down what they are told; the rest is real. */
  @Test
  void theCommandsOfThePageNameWhatIsThere() throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/kubernetes.md");
    List<String> install = page.blocks("Install", "bash");
    Path program =
        ModuleDirectory.of("scheduler-server")
            .resolve(
                "target/scheduler-server-%s.jar".formatted(System.getProperty("punctual.version")));
    String commands =
        String.join(
                "",
                page.blocks("Run on Kubernetes", "bash").get(0),
                String.join("", install),
                page.blocks("Applications", "bash").get(0),
                MarkdownPage.of("docs/upgrade.md").blocks("Upgrade", "bash").get(1))
            .replace("deploy/scripts/images.sh", "images")
            .replace("mvn ", "maven ")
            .replace(
                "java -jar scheduler-server.jar",
                System.getProperty("java.home") + "/bin/java -jar " + program.toAbsolutePath());
    List<String> told =
        ExampleProgram.shell(
            Files.createDirectories(SharedSystem.DIRECTORY.resolve("kubernetes")),
            Map.of(
                "REDIS_PASSWORD", "r", "ALICE_PASSWORD", "alice-77e0b2c5", "METRICS_PASSWORD", "m"),
            """
            kubectl() { printf '%s ' kubectl "$@" >&2; echo >&2; }
            docker() { echo docker "$@"; }
            images() { echo "images $IMAGE_PREFIX $*"; }
            maven() { :; }
            """
                + commands);

    Map<String, String> settings = settings(BASE);
    assertThat(told)
        .contains(
            "images registry.example/punctual scheduler-server",
            "docker push registry.example/punctual/scheduler-server:0.1.0-SNAPSHOT")
        .filteredOn(line -> line.contains("overlays/"))
        .hasSizeGreaterThanOrEqualTo(4)
        .allSatisfy(
            line ->
                assertThat(
                        ModuleDirectory.root()
                            .resolve(line.substring(line.indexOf("deploy/")).strip()))
                    .isDirectoryContaining("glob:**/kustomization.yaml"));
    String all = String.join("\n", told);
    assertThat(all)
        .containsPattern("PUNCTUAL_SECURITY_SIGNINGKEYS=[A-Za-z0-9_-]{43} ")
        .containsPattern("PUNCTUAL_SECURITY_OPERATORS_ALICE_PASSWORD=\\{bcrypt}\\S+ ")
        .contains("create secret generic " + secret() + " ")
        .contains("deployment/" + deployment().getMetadata().getName() + " ")
        .contains(
            "service/punctual-scheduler "
                + ports(read(Service.class, BASE.resolve("service.yaml"))).get("operators"));
    assertThat(settings).containsEntry("SPRING_DATA_REDIS_USERNAME", "punctual");
    assertThat(Files.readString(BASE.resolve("network-policy.yaml")))
        .contains("punctual.io/operators: \"true\"");
    assertThat(Files.readString(DIRECTORY.resolve("overlays/production/service-monitor.yaml")))
        .contains("name: punctual-metrics", "key: username", "key: password");
  }

  private static String secret() throws IOException {
    return scheduler().getEnvFrom().get(1).getSecretRef().getName();
  }

  /** Of the schedulers that find workers by services. */
  @Test
  void theRightsOfThePageAreWhatTheClientReads() throws IOException {
    List<String> blocks =
        MarkdownPage.of("docs/kubernetes.md").blocks("Find workers by services", "yaml");
    String[] parts = blocks.get(0).split("---\n");
    assertThat(parts).hasSize(2);
    Role role = (Role) YAML.unmarshal(parts[0]);
    RoleBinding binding = (RoleBinding) YAML.unmarshal(parts[1]);
    assertNothingUnknown("role", role);
    assertNothingUnknown("binding", binding);
    assertThat(role.getRules())
        .singleElement()
        .satisfies(rule -> assertThat(rule.getResources()).contains("services", "endpoints"));
    assertThat(binding.getRoleRef().getName()).isEqualTo(role.getMetadata().getName());
    assertThat(binding.getMetadata().getNamespace()).isEqualTo(role.getMetadata().getNamespace());
    // The rest of a service's description is the reader's.
    Service service =
        YAML.unmarshal("apiVersion: v1\nkind: Service\n" + blocks.get(1), Service.class);
    assertNothingUnknown("service", service);
    assertThat(service.getMetadata().getAnnotations()).containsKey("punctual-callback");
  }
}
