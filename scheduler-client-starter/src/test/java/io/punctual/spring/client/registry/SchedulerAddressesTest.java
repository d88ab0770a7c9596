package io.punctual.spring.client.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.client.submit.SchedulerLocator;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

class SchedulerAddressesTest {

  private static ServiceInstance at(String host) {
    return new DefaultServiceInstance(host, "punctual-scheduler", host, 8080, false);
  }

  private static final DiscoveryClient REGISTRY =
      new DiscoveryClient() {
        @Override
        public String description() {
          return "of a test";
        }

        @Override
        public List<ServiceInstance> getInstances(String service) {
          return List.of(
              at("10.0.0.1"),
              at("\"><script>"),
              at("two words"),
              at("user@10.0.0.2"),
              at("10.0.0.3?x="),
              at("10.0.0.4#"),
              at("scheduler.example"));
        }

        @Override
        public List<String> getServices() {
          return List.of("punctual-scheduler");
        }
      };

  @Test
  void anEntryThatIsNoAddressHidesNoOtherScheduler() {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues("spring.application.name=shop")
        .withBean(DiscoveryClient.class, () -> REGISTRY)
        .run(
            context ->
                assertThat(context.getBean(SchedulerLocator.class).schedulers())
                    .containsExactlyInAnyOrder(
                        URI.create("http://10.0.0.1:8080"),
                        URI.create("http://scheduler.example:8080")));
  }
}
