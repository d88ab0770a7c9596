package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;

import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/**
 * Instances that are pods behind a service of Kubernetes, and register nowhere. The cluster is a
 * stand-in, because the build has none.
 */
@Tag("full")
class KubernetesDiscoveryIT extends RegistryContract {

  private static final String SIGNING_KEY = "5d0b2f8e6a914c7789e3c1f2a4b6d8e0";

  @Override
  JavaProcess startRegistry() {
    return PROGRAMS.kubernetes().start().awaitPort();
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitPort();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(
        PROGRAMS.schedulerOnKubernetes(
            registry,
            REDIS.port(),
            keyPrefix(),
            "--punctual.security.signing-keys=" + SIGNING_KEY));
  }

  @Override
  JavaProcess worker(Workload load, String... options) throws IOException {
    return PROGRAMS.workerOnKubernetes(
        registry(),
        started(),
        load.application(),
        load.record(),
        Stream.of(credentials(load), options).flatMap(Stream::of).toArray(String[]::new));
  }

  /** Calls without a signature are for 127.0.0.1 alone, which is no pod's address. */
  @Override
  String[] credentials(Workload load) {
    String key = CallbackSignature.Key.derived(SIGNING_KEY, load.application()).reveal();
    return new String[] {Programs.SECRETS + key};
  }

  /** The instance does not know the name that its pod has there. */
  @Override
  void awaitFoundByScheduler(JavaProcess instance) {
    instance.awaitLog("no registry's client registers this instance");
  }

  @Override
  String source() {
    return "kubernetes";
  }
}
