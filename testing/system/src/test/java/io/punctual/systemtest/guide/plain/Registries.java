package io.punctual.systemtest.guide.plain;

import com.netflix.discovery.EurekaClient;
import io.punctual.client.submit.SchedulerSource;
import java.net.URI;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import tools.jackson.databind.json.JsonMapper;

/** How a program in plain Java finds schedulers by the client that it has of a registry. */
final class Registries {

  private static final JsonMapper JSON = new JsonMapper();

  private Registries() {}

  static SchedulerSource inEureka(EurekaClient eureka) {
    return () ->
        eureka.getInstancesByVipAddress("punctual-scheduler", /* secure= */ false).stream()
            .map(it -> URI.create("http://" + it.getHostName() + ":" + it.getPort()))
            .toList();
  }

  static SchedulerSource inZookeeper(CuratorCache services) {
    return () ->
        services.stream()
            .filter(entry -> entry.getPath().startsWith("/services/punctual-scheduler/"))
            .map(entry -> JSON.readTree(entry.getData()))
            .map(it -> "http://" + it.get("address").asString() + ":" + it.get("port").asInt())
            .map(URI::create)
            .toList();
  }
}
