package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;

/** A registry that answers late, wrongly or not at all. */
class PolledSourceTest {

  private final Map<String, List<ServiceInstance>> shown = new TreeMap<>();
  private volatile String name = "zookeeper";
  private volatile boolean away;
  private volatile String broken = "";
  private volatile CountDownLatch stands = new CountDownLatch(0);
  private final CountDownLatch asked = new CountDownLatch(1);

  private final PolledSource source =
      new PolledSource(
          new InstanceSource() {
            @Override
            public String name() {
              return name;
            }

            @Override
            public Collection<String> applications() {
              asked.countDown();
              try {
                stands.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              if (away) {
                throw new IllegalStateException("connection loss");
              }
              return shown.keySet();
            }

            @Override
            public List<ServiceInstance> instances(String application) {
              if (application.equals(broken)) {
                throw new AssertionError("an entry that cannot be read");
              }
              return shown.get(application);
            }
          });

  private static ServiceInstance instance(String application, String id) {
    return new DefaultServiceInstance(id, application, "10.0.0.1", 8081, false);
  }

  private List<String> ids(String application) {
    return source.instances(application).stream().map(ServiceInstance::getInstanceId).toList();
  }

  @Test
  void aFirstEmptyAnswerOfNacosIsNoView() {
    name = "nacos";
    source.refresh();
    assertThat(source.age()).isNull();

    shown.put("punctual-scheduler", List.of(instance("punctual-scheduler", "1")));
    source.refresh();
    assertThat(source.age()).isNotNull();

    shown.clear();
    source.refresh();
    assertThat(source.applications()).isEmpty();
  }

  @Test
  void whatWasReadIsFoundInAnyCaseUntilItIsReadOtherwise() {
    shown.put("Shop", List.of(instance("Shop", "1")));
    shown.put("shop", List.of(instance("shop", "2")));
    assertThat(source.age()).isNull();
    assertThat(source.applications()).isEmpty();

    source.refresh();

    assertThat(ids("SHOP")).containsExactlyInAnyOrder("1", "2");
    assertThat(source.applications()).hasSize(1);
    assertThat(source.age()).isLessThan(Duration.ofMinutes(1));

    shown.clear();
    source.refresh();
    assertThat(ids("shop")).isEmpty();
  }

  @Test
  void aRegistryThatIsAwayLeavesTheLastView() {
    shown.put("shop", List.of(instance("shop", "1")));
    source.refresh();
    away = true;
    source.refresh();

    assertThat(ids("shop")).containsExactly("1");
    assertThat(source.applications()).containsExactly("shop");
  }

  @Test
  void anApplicationThatCannotBeReadKeepsItsInstancesAndHidesNoOther() {
    shown.put("a", List.of(instance("a", "1")));
    source.refresh();
    broken = "a";
    shown.put("b", List.of(instance("b", "2")));
    source.refresh();

    assertThat(ids("a")).containsExactly("1");
    assertThat(ids("b")).containsExactly("2");
  }

  @Test
  @Timeout(30)
  void noReaderWaitsForARegistryThatStandsStill() throws Exception {
    shown.put("shop", List.of(instance("shop", "1")));
    source.refresh();
    stands = new CountDownLatch(1);
    CompletableFuture<Void> reading = CompletableFuture.runAsync(source::refresh);
    assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();

    WorkerDirectory directory = new WorkerDirectory(List.of(source), false);
    assertThat(directory.all()).isEmpty(); // no metadata, so no worker
    assertThat(ids("shop")).containsExactly("1");
    assertThat(reading).isNotDone();

    stands.countDown();
    reading.get(10, TimeUnit.SECONDS);
  }
}
