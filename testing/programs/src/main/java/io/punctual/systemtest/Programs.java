package io.punctual.systemtest;

import io.punctual.redis.Ports;
import io.punctual.systemtest.worker.WorkerApplication;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The programs of the system, as the build made them, on free ports of 127.0.0.1. */
public final class Programs {

  private static final StartCaches CACHES =
      new StartCaches(
          Path.of("target", "start-caches").toAbsolutePath(),
          Boolean.getBoolean("punctual.start-caches"));

  /** A worker without a registry's client, and its start cache. */
  private static final String BARE_WORKER = "worker-without-registry";

  private static final Set<String> OFTEN =
      Set.of(
          "scheduler-server",
          "eureka-registry",
          "demo-order-service",
          WorkerApplication.class.getSimpleName(),
          BARE_WORKER);

  /** The run that makes a start cache takes several times as long as a start. */
  private static final Duration TRAINING_PATIENCE = Duration.ofMinutes(10);

  private static final String NAME = "--spring.application.name=";
  private static final String PREFIX = "--punctual.key-prefix=";
  private static final String ADDRESSES = "--punctual.url=";

  /** An option of a worker, which then runs no job without a signature. */
  static final String SECRETS = "--punctual.callback.secrets=";

  // What a run that makes a start cache has otherwise.
  private static final List<String> ITS_OWN = List.of(NAME, PREFIX, ADDRESSES);

  /** What only an application has that sends delayed messages of RabbitMQ. */
  private static final Pattern RABBITMQ =
      Pattern.compile("(punctual-amqp|spring-boot-(starter-)?amqp|spring-amqp|spring-rabbit)-.*");

  private static final Pattern SERVLET_STACK =
      Pattern.compile("(spring-webmvc|spring-boot-(starter-)?(webmvc|tomcat|servlet)|tomcat-).*");

  /** What only an application in plugin mode has. */
  private static final Pattern PLUGIN_MODE =
      Pattern.compile(
          "(scheduler-plugin-starter|spring-boot-(starter-)?data-|spring-data-|lettuce-core|jedis).*");

  /** An option of the demo: its database ends with it. */
  public static final String SHOP_IN_MEMORY =
      "--spring.datasource.url=jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1;DB_CLOSE_ON_EXIT=FALSE";

  private static final String ZOOKEEPER_SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain";

  /** What Nacos's clients add to the port that they are configured with. */
  private static final int NACOS_CLIENTS = 1000;

  private static final String KUBERNETES = "kubernetes";
  private static final String KUBERNETES_STAND_IN = "io.punctual.test.kubernetes.KubernetesStandIn";

  private static final String CONSUL_STAND_IN = "io.punctual.test.consul.ConsulStandIn";

  /** The application name and key prefix of the runs that make start caches. */
  public static final String TRAINING = "training";

  private final String version;
  private final Path directory;
  private final List<String> flags;
  private final String scheme;
  private final HttpClient client;
  private final List<String> everywhere;
  private final @Nullable StartCaches caches;
  private final Map<String, Integer> podPorts = new ConcurrentHashMap<>();
  private final AtomicInteger pods = new AtomicInteger();

  /**
   * Programs that start fast and need little, for tests on few processors.
   *
   * @param directory for logs and records
   */
  public Programs(Path directory) {
    this(
        directory,
        // With room for all compiled code, no start collects the whole heap for the sake of some.
        // Large pages save a sixth of the processor time of a start.
        List.of(
            "-Xmx256m",
            "-XX:+UseSerialGC",
            // Unknown but on Linux.
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UseTransparentHugePages",
            "-XX:TieredStopAtLevel=1",
            "-XX:ReservedCodeCacheSize=192m"),
        "http",
        Http.CLIENT,
        List.of(),
        CACHES);
  }

  /**
   * @param directory for logs and records
   * @param flags for every JVM
   */
  public Programs(Path directory, List<String> flags) {
    this(directory, flags, "http", Http.CLIENT, List.of(), null);
  }

  private Programs(
      Path directory,
      List<String> flags,
      String scheme,
      HttpClient client,
      List<String> everywhere,
      @Nullable StartCaches caches) {
    this.caches = caches;
    this.flags = List.copyOf(flags);
    this.scheme = scheme;
    this.client = client;
    this.everywhere = List.copyOf(everywhere);
    this.version = System.getProperty("punctual.version", "0.1.0-SNAPSHOT");
    this.directory = directory.toAbsolutePath();
  }

  /**
   * The same over TLS.
   *
   * @param client whom they let in
   * @param options that all of them get
   */
  public Programs overTls(HttpClient client, String... options) {
    return new Programs(directory, flags, "https", client, List.of(options), caches);
  }

  /** A registry. */
  public JavaProcess registry() {
    int port = Ports.free();
    return process(
        "registry",
        port,
        jar("eureka-registry"),
        List.of("--spring.profiles.active=quickstart", "--server.port=" + port));
  }

  /**
   * A scheduler.
   *
   * @param keyPrefix keeps the queues of one test from those of another
   */
  public JavaProcess scheduler(
      JavaProcess registry, int redisPort, String keyPrefix, String... options) {
    return scheduler(registry.url(), redisPort, keyPrefix, options);
  }

  /**
   * A scheduler that reaches the registry by another way.
   *
   * @param registry the address that it is told
   * @param keyPrefix keeps the queues of one test from those of another
   */
  public JavaProcess scheduler(
      String registry, int redisPort, String keyPrefix, String... options) {
    return scheduler(jar("scheduler-server"), registry, redisPort, keyPrefix, options);
  }

  private JavaProcess scheduler(
      Launch launch, String registry, int redisPort, String keyPrefix, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--spring.profiles.active=quickstart",
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redisPort,
                PREFIX + keyPrefix,
                "--eureka.instance.hostname=127.0.0.1",
                eureka(registry)));
    arguments.addAll(Arrays.asList(options));
    return process("scheduler", port, launch, arguments);
  }

  /** The demo shop. */
  public JavaProcess demo(JavaProcess registry, JavaProcess scheduler) {
    int port = Ports.free();
    return process(
        "demo",
        port,
        jar("demo-order-service"),
        List.of(
            "--server.address=127.0.0.1",
            "--server.port=" + port,
            SHOP_IN_MEMORY,
            ADDRESSES + scheduler.url(),
            "--punctual.callback.accept-unsigned=true",
            "--eureka.instance.hostname=127.0.0.1",
            eureka(registry)));
  }

  /** The demo shop, which asks the registry for schedulers. */
  public JavaProcess demo(JavaProcess registry, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                SHOP_IN_MEMORY,
                "--eureka.instance.hostname=127.0.0.1",
                eureka(registry)));
    arguments.addAll(Arrays.asList(options));
    return process("demo", port, jar("demo-order-service"), arguments);
  }

  /** The demo shop with the other starter: no scheduler, no registry. */
  public JavaProcess demoInPluginMode(int redisPort, String keyPrefix, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                SHOP_IN_MEMORY,
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redisPort,
                "--punctual.key-prefix=" + keyPrefix));
    arguments.addAll(Arrays.asList(options));
    return process("demo-plugin", port, jar("demo-order-plugin"), arguments);
  }

  /** An instance of a worker application. */
  public JavaProcess worker(
      JavaProcess registry, String application, Path record, String... options) {
    return worker(registry.url(), application, record, options);
  }

  /**
   * An instance of a worker application that reaches the registry by another way.
   *
   * @param registry the address that it is told
   */
  public JavaProcess worker(String registry, String application, Path record, String... options) {
    return worker(main(WorkerApplication.class), registry, application, record, options);
  }

  /**
   * An instance of a worker application on another Spring Boot than that of this build.
   *
   * @param module which has its libraries
   * @param client which it has of them: Eureka's, ZooKeeper's or Consul's
   */
  JavaProcess workerOf(
      String module,
      RegistryClient client,
      JavaProcess registry,
      String application,
      Path record,
      String... options) {
    Launch launch = workerOf(module, client.alone());
    return switch (client) {
      case EUREKA -> worker(launch, registry.url(), application, record, options);
      case ZOOKEEPER -> worker(launch, application, record, zookeeper(registry), options);
      case CONSUL -> worker(launch, application, record, consul(registry), options);
      case NACOS, KUBERNETES -> throw new IllegalArgumentException(client + " is in no module");
    };
  }

  /**
   * The same without any registry's client.
   *
   * @param schedulers at which it registers, or from which it pulls
   */
  JavaProcess workerOf(
      String module,
      List<JavaProcess> schedulers,
      String application,
      Path record,
      String... options) {
    return worker(
        workerOf(module, jar -> !RegistryClient.isOfAny(jar)),
        application,
        record,
        List.of(addresses(schedulers)),
        options);
  }

  private static Launch workerOf(String module, Predicate<String> jars) {
    List<Path> path = new ArrayList<>();
    path.add(
        Path.of(
            URI.create(
                WorkerApplication.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toString())));
    try (Stream<Path> libraries =
        Files.list(ModuleDirectory.of(module).resolve("target").resolve("lib"))) {
      libraries
          .filter(jar -> jars.test(jar.getFileName().toString()))
          .filter(jar -> !isOfPluginMode(jar.getFileName().toString()))
          .sorted()
          .forEach(path::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String joined =
        path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    return new Launch(module, List.of("-cp", joined, WorkerApplication.class.getName()), path);
  }

  private JavaProcess worker(
      Launch launch, String registry, String application, Path record, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--" + WorkerApplication.RECORD + "=" + record.toAbsolutePath(),
                NAME + application,
                "--spring.threads.virtual.enabled=true",
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--management.endpoint.health.probes.enabled=true",
                "--punctual.callback.accept-unsigned=true",
                "--punctual.eureka.fast=true",
                "--eureka.instance.instance-id=" + application + ":" + port,
                "--eureka.instance.hostname=127.0.0.1",
                eureka(registry)));
    arguments.addAll(Arrays.asList(options));
    return process(application, port, launch, arguments);
  }

  private static Launch main(Class<?> main) {
    return launch(main, RegistryClient.EUREKA.alone(), jar -> false);
  }

  private static Launch launch(Class<?> main, Predicate<String> jars, Predicate<String> last) {
    return Launch.main(main, jars.and(jar -> !isOfRabbitMq(jar)), last);
  }

  static boolean isOfRabbitMq(String jar) {
    return RABBITMQ.matcher(jar).matches();
  }

  static boolean isOfServlets(String jar) {
    return SERVLET_STACK.matcher(jar).matches();
  }

  static boolean isOfPluginMode(String jar) {
    return PLUGIN_MODE.matcher(jar).matches();
  }

  private static Launch bareWorker() {
    return launch(WorkerApplication.class, jar -> !RegistryClient.isOfAny(jar), jar -> false)
        .named(BARE_WORKER);
  }

  /** A worker with one client of a registry, behind all else on its class path. */
  private static Launch workerOn(RegistryClient registry) {
    return launch(WorkerApplication.class, registry.alone(), RegistryClient::isOfAny)
        .named("worker-on-" + registry)
        .on(bareWorker());
  }

  /** An instance of a worker application without Eureka's client. */
  private JavaProcess worker(
      Launch launch, String application, Path record, List<String> registry, String... options) {
    return worker(launch, "127.0.0.1", Ports.free(), application, record, registry, options);
  }

  private JavaProcess worker(
      Launch launch,
      String address,
      int port,
      String application,
      Path record,
      List<String> registry,
      String... options) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--" + WorkerApplication.RECORD + "=" + record.toAbsolutePath(),
                NAME + application,
                "--server.address=" + address,
                "--server.port=" + port,
                "--management.endpoint.health.probes.enabled=true"));
    if (Stream.of(options).noneMatch(option -> option.startsWith(SECRETS))) {
      arguments.add("--punctual.callback.accept-unsigned=true");
    }
    arguments.addAll(registry);
    arguments.addAll(Arrays.asList(options));
    return process(application, port, launch, arguments);
  }

  /**
   * A scheduler that does not read Eureka.
   *
   * @param registry options of the registry that it reads
   */
  private JavaProcess schedulerOn(
      Launch launch, int redisPort, String keyPrefix, List<String> registry, String... options) {
    List<String> all = new ArrayList<>(registry);
    all.add("--eureka.client.enabled=false");
    all.addAll(Arrays.asList(options));
    return scheduler(
        launch, "http://127.0.0.1:1", redisPort, keyPrefix, all.toArray(String[]::new));
  }

  /**
   * The scheduler's program with a registry's client that it does not have: on the class path, as
   * docs/install.md says.
   */
  private Launch schedulerBeside(RegistryClient registry) {
    Launch program = jar("scheduler-server");
    List<Path> jars = new ArrayList<>();
    jars.add(Path.of(program.words().getLast()));
    jars.addAll(
        Launch.main(WorkerApplication.class, registry::needs, jar -> false).jars().stream()
            .filter(Files::isRegularFile)
            .toList());
    String classPath =
        jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    return new Launch(
        "scheduler-beside-" + registry,
        List.of("-cp", classPath, "io.punctual.launch.Launcher"),
        jars);
  }

  /** A ZooKeeper server, which keeps its data; it is there once its port accepts connections. */
  public JavaProcess zookeeper() {
    int port = Ports.free();
    Launch classPath = workerOn(RegistryClient.ZOOKEEPER);
    List<String> words =
        new ArrayList<>(
            List.of(
                "-Dzookeeper.admin.enableServer=false",
                "-Dzookeeper.clientPortAddress=127.0.0.1",
                "-cp",
                classPath.words().get(1),
                ZOOKEEPER_SERVER));
    Path data = directory.resolve("zookeeper-" + port);
    // The shortest session is two ticks.
    return process(
        "zookeeper",
        port,
        new Launch("zookeeper", words, classPath.jars()),
        List.of(Integer.toString(port), data.toString(), "1000"));
  }

  /** A scheduler that reads ZooKeeper and no other registry. */
  public JavaProcess schedulerOnZookeeper(
      JavaProcess zookeeper, int redisPort, String keyPrefix, String... options) {
    List<String> registry = new ArrayList<>(zookeeper(zookeeper));
    registry.add("--spring.cloud.zookeeper.enabled=true");
    return schedulerOn(jar("scheduler-server"), redisPort, keyPrefix, registry, options);
  }

  /** An instance of a worker application that has ZooKeeper's client and no other. */
  public JavaProcess workerOnZookeeper(
      JavaProcess zookeeper, String application, Path record, String... options) {
    return worker(
        workerOn(RegistryClient.ZOOKEEPER), application, record, zookeeper(zookeeper), options);
  }

  /** The options by which a program finds ZooKeeper. */
  static List<String> zookeeper(JavaProcess zookeeper) {
    return List.of(
        "--spring.cloud.zookeeper.connect-string=127.0.0.1:" + zookeeper.port(),
        "--spring.cloud.zookeeper.session-timeout=6s",
        "--spring.cloud.zookeeper.discovery.instance-host=127.0.0.1");
  }

  /** A stand-in for Consul's agent, which keeps nothing; it is there once its port accepts. */
  public JavaProcess consul() {
    int port = Ports.free();
    Launch classPath = main(WorkerApplication.class);
    return process(
        "consul",
        port,
        new Launch(
            "consul", List.of("-cp", classPath.words().get(1), CONSUL_STAND_IN), classPath.jars()),
        List.of(Integer.toString(port)));
  }

  /** A scheduler that reads Consul and no other registry. */
  public JavaProcess schedulerOnConsul(
      JavaProcess consul, int redisPort, String keyPrefix, String... options) {
    List<String> registry = new ArrayList<>(consul(consul));
    registry.add("--spring.cloud.consul.enabled=true");
    return schedulerOn(jar("scheduler-server"), redisPort, keyPrefix, registry, options);
  }

  /**
   * An instance of a worker application that has Consul's client and no other.
   *
   * @param options also those of its check
   */
  public JavaProcess workerOnConsul(
      JavaProcess consul, String application, Path record, String... options) {
    return worker(workerOn(RegistryClient.CONSUL), application, record, consul(consul), options);
  }

  private static List<String> consul(JavaProcess consul) {
    return List.of(
        "--spring.cloud.consul.host=127.0.0.1",
        "--spring.cloud.consul.port=" + consul.port(),
        "--spring.cloud.consul.discovery.hostname=127.0.0.1");
  }

  /**
   * A Nacos server, which forgets all instances when it ends. It is ready some seconds after its
   * port accepts connections.
   */
  public JavaProcess nacos() {
    // The port that clients connect to, 1000 above the one in their settings.
    int port =
        Stream.generate(Ports::free)
            .filter(
                free ->
                    IntStream.of(free + 1, free - NACOS_CLIENTS, free - 2 * NACOS_CLIENTS)
                        .allMatch(Ports::isFree))
            .findFirst()
            .orElseThrow();
    Path home = directory.resolve("nacos-" + port);
    Launch server = jar("nacos-server");
    List<String> words =
        new ArrayList<>(
            List.of(
                "-Dnacos.home=" + home,
                "-Dnacos.logs.path=" + home.resolve("logs"),
                "-Dderby.stream.error.file=" + home.resolve("derby.log"),
                "-Dnacos.server.main.port=" + (port - NACOS_CLIENTS)));
    words.addAll(server.words());
    return process("nacos", port, new Launch("nacos", words, server.jars()), List.of());
  }

  /** A scheduler that reads Nacos and no other registry. */
  public JavaProcess schedulerOnNacos(
      JavaProcess nacos, int redisPort, String keyPrefix, String... options) {
    List<String> registry = new ArrayList<>(nacos(nacos));
    registry.add("--spring.cloud.nacos.discovery.enabled=true");
    return schedulerOn(
        schedulerBeside(RegistryClient.NACOS).with(nacosClient()),
        redisPort,
        keyPrefix,
        registry,
        options);
  }

  /** An instance of a worker application that has Nacos's client and no other. */
  public JavaProcess workerOnNacos(
      JavaProcess nacos, String application, Path record, String... options) {
    return worker(
        workerOn(RegistryClient.NACOS).with(nacosClient()),
        application,
        record,
        nacos(nacos),
        options);
  }

  private static List<String> nacos(JavaProcess nacos) {
    return List.of(
        "--spring.cloud.nacos.discovery.server-addr=127.0.0.1:" + (nacos.port() - NACOS_CLIENTS),
        "--spring.cloud.nacos.discovery.ip=127.0.0.1",
        // Its default is 10 s.
        "--spring.cloud.nacos.discovery.graceful-shutdown-wait-time=0");
  }

  /** Where Nacos's client writes its log and what it knows: else into the user's directory. */
  private List<String> nacosClient() {
    Path files = directory.resolve("nacos-client");
    return List.of("-DJM.LOG.PATH=" + files, "-DJM.SNAPSHOT.PATH=" + files);
  }

  /**
   * A stand-in for a cluster of Kubernetes, which keeps its pods in a file; it is ready once its
   * port accepts connections.
   */
  public JavaProcess kubernetes() {
    int port = Ports.free();
    Launch classPath = main(WorkerApplication.class);
    return process(
        KUBERNETES,
        port,
        new Launch(
            KUBERNETES,
            List.of("-cp", classPath.words().get(1), KUBERNETES_STAND_IN),
            classPath.jars()),
        List.of(Integer.toString(port), directory.resolve("pods-" + port).toString()));
  }

  /** A scheduler that reads Kubernetes' services and no other registry. */
  public JavaProcess schedulerOnKubernetes(
      JavaProcess kubernetes, int redisPort, String keyPrefix, String... options) {
    Path access = directory.resolve("kubeconfig-" + kubernetes.port());
    try {
      Files.writeString(
          access,
          """
          apiVersion: v1
          kind: Config
          clusters: [{name: test, cluster: {server: "%s"}}]
          users: [{name: test, user: {}}]
          contexts: [{name: test, context: {cluster: test, user: test, namespace: default}}]
          current-context: test
          """
              .formatted(kubernetes.url()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> registry =
        List.of(
            "--spring.main.cloud-platform=kubernetes",
            "--spring.cloud.kubernetes.discovery.namespaces=default");
    return schedulerOn(
            schedulerBeside(RegistryClient.KUBERNETES), redisPort, keyPrefix, registry, options)
        .with("KUBECONFIG", access.toString());
  }

  /**
   * A pod of a deployment in Kubernetes: a worker that registers nowhere, and that the cluster
   * shows while it is ready. As in a cluster, each pod has its own address, and all pods of an
   * application have the same port.
   *
   * @param schedulers those to which it submits
   */
  public JavaProcess workerOnKubernetes(
      JavaProcess kubernetes,
      List<JavaProcess> schedulers,
      String application,
      Path record,
      String... options)
      throws IOException {
    int port = podPorts.computeIfAbsent(application, any -> Ports.free());
    String address = "127.1.0." + pods.incrementAndGet();
    JavaProcess pod =
        worker(
                bareWorker(),
                address,
                port,
                application,
                record,
                List.of("--punctual.registration=registry", addresses(schedulers)),
                options)
            .at(address);
    Http.put("%s/pods/%s/%s?port=%d".formatted(kubernetes.url(), application, address, port), "");
    return pod;
  }

  /**
   * An instance of a worker application that has no registry's client on its class path.
   *
   * @param schedulers at which it registers
   */
  public JavaProcess workerWithoutRegistry(
      List<JavaProcess> schedulers, String application, Path record, String... options) {
    return worker(bareWorker(), application, record, List.of(addresses(schedulers)), options);
  }

  private static String addresses(List<JavaProcess> schedulers) {
    return ADDRESSES + schedulers.stream().map(JavaProcess::url).collect(Collectors.joining(","));
  }

  /** A web application of the class path that registers, with nothing else but these options. */
  public JavaProcess application(JavaProcess registry, Class<?> main, String... options) {
    return application(registry, main(main), options);
  }

  /** The same with RabbitMQ's client, which no other application has. */
  public JavaProcess amqpApplication(JavaProcess registry, Class<?> main, String... options) {
    return application(
        registry, Launch.main(main, RegistryClient.EUREKA.alone(), jar -> false), options);
  }

  private JavaProcess application(JavaProcess registry, Launch launch, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--punctual.eureka.fast=true",
                "--eureka.instance.hostname=127.0.0.1",
                eureka(registry)));
    arguments.addAll(Arrays.asList(options));
    return process(launch.name(), port, launch, arguments);
  }

  /** One of our programs, on 127.0.0.1 and with nothing else but these options. */
  public JavaProcess program(String module, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--eureka.instance.hostname=127.0.0.1"));
    arguments.addAll(Arrays.asList(options));
    return process(module, port, jar(module), arguments);
  }

  /**
   * Runs a command of the scheduler's program to its end.
   *
   * @return what it wrote
   */
  public String command(String... words) throws IOException {
    Process process = startCommand(words);
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Starts a command of the scheduler's program; what it writes can be read. */
  public Process startCommand(String... words) throws IOException {
    return startCommand(jar("scheduler-server").words(), words);
  }

  /**
   * Starts a command of the scheduler's program with jars beside it, as docs/import-sql.md says;
   * what it writes can be read.
   *
   * @param flags of this JVM alone
   */
  public Process startCommandWith(List<Path> jars, List<String> flags, String... words)
      throws IOException {
    Path program = Path.of(jar("scheduler-server").words().getLast());
    String classPath =
        Stream.concat(Stream.of(program), jars.stream())
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    return startCommand(
        Stream.concat(flags.stream(), Stream.of("-cp", classPath, "io.punctual.launch.Launcher"))
            .toList(),
        words);
  }

  private Process startCommand(List<String> program, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(JavaProcess.JAVA));
    command.addAll(flags);
    command.addAll(program);
    command.addAll(Arrays.asList(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    return process;
  }

  /** A web application of the class path that registers nowhere. */
  public JavaProcess application(Class<?> main, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--spring.threads.virtual.enabled=true",
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--management.endpoint.health.probes.enabled=true",
                "--eureka.client.enabled=false"));
    arguments.addAll(Arrays.asList(options));
    return process(main.getSimpleName(), port, main(main), arguments);
  }

  /**
   * A WebFlux application of the class path, from which Spring MVC and Tomcat are left out, that
   * registers nowhere and finds a scheduler by a {@code DiscoveryClient} of properties.
   */
  public JavaProcess reactiveApplication(JavaProcess scheduler, Class<?> main, String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--management.endpoint.health.probes.enabled=true",
                "--eureka.client.enabled=false",
                discovered(scheduler)));
    arguments.addAll(Arrays.asList(options));
    return process(
        main.getSimpleName(),
        port,
        launch(main, RegistryClient.EUREKA.alone().and(jar -> !isOfServlets(jar)), jar -> false),
        arguments);
  }

  /** An option: where the registry of properties has the scheduler. */
  public static String discovered(JavaProcess scheduler) {
    return "--spring.cloud.discovery.client.simple.instances.punctual-scheduler[0].uri="
        + scheduler.url();
  }

  /**
   * A program that was built elsewhere.
   *
   * @param javaHome of the Java that runs it
   * @param where it runs
   * @param words behind {@code java}, up to the program's own options
   */
  JavaProcess foreign(Path javaHome, Path where, String name, List<String> words, int port) {
    List<String> command = new ArrayList<>(flags);
    command.addAll(words);
    return new JavaProcess(
        name,
        scheme,
        port,
        client,
        log(name, port),
        javaHome.resolve("bin").resolve("java").toString(),
        where,
        command);
  }

  /** The option by which an application finds the registry. */
  static String eureka(JavaProcess registry) {
    return eureka(registry.url());
  }

  private static String eureka(String registry) {
    return "--eureka.client.service-url.defaultZone=" + registry + "/eureka/";
  }

  private JavaProcess process(String name, int port, Launch launch, List<String> arguments) {
    List<String> options = new ArrayList<>(arguments);
    options.addAll(everywhere);
    List<String> command = new ArrayList<>(flags);
    Launch base = launch.base();
    Launch cached = base == null ? launch : base;
    if (caches != null && OFTEN.contains(cached.name()) && launch.canBeCached()) {
      command.addAll(
          caches.flags(cached, (flag, log) -> train(name, port, cached, options, flag, log)));
    }
    command.addAll(launch.words());
    command.addAll(options);
    return new JavaProcess(name, scheme, port, client, log(name, port), command);
  }

  /**
   * Runs the program once to make its cache. It has its own application name and key prefix, so
   * that it gets no job of a test and writes no key that a test reads.
   */
  private void train(
      String name, int port, Launch launch, List<String> options, String flag, Path log) {
    List<String> command = new ArrayList<>(flags);
    command.add(flag);
    command.addAll(launch.words());
    options.stream()
        .filter(option -> ITS_OWN.stream().noneMatch(option::startsWith))
        .forEach(command::add);
    command.addAll(List.of(NAME + TRAINING, PREFIX + TRAINING));
    if (launch.name().equals(BARE_WORKER)) {
      // It finds schedulers by addresses alone. None is needed.
      command.add(ADDRESSES + "http://127.0.0.1:1");
    }
    try (JavaProcess trained = new JavaProcess(name, scheme, port, client, log, command)) {
      trained.start().awaitReady(TRAINING_PATIENCE).terminate(TRAINING_PATIENCE);
    }
  }

  private Path log(String name, int port) {
    return directory.resolve("logs").resolve(name + "-" + port + ".log");
  }

  private Launch jar(String module) {
    Path jar =
        ModuleDirectory.of(module).resolve("target").resolve(module + "-" + version + ".jar");
    if (!Files.exists(jar)) {
      throw new IllegalStateException(jar + " is not there; build it with: mvn package");
    }
    return Launch.jar(module, jar);
  }
}
