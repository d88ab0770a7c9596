package io.punctual.systemtest.guide.plain;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.EurekaClient;
import com.sun.net.httpserver.HttpServer;
import io.punctual.DelayQueueJob;
import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.punctual.client.callback.HttpServerCallback;
import io.punctual.client.submit.SchedulerSource;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.retry.RetryOneTime;
import org.springframework.cloud.commons.util.InetUtils;
import org.springframework.cloud.commons.util.InetUtilsProperties;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.cloud.netflix.eureka.EurekaInstanceConfigBean;
import org.springframework.cloud.netflix.eureka.InstanceInfoFactory;
import org.springframework.cloud.netflix.eureka.TimeoutProperties;
import org.springframework.cloud.netflix.eureka.http.DefaultEurekaClientHttpRequestFactorySupplier;
import org.springframework.cloud.netflix.eureka.http.RestClientDiscoveryClientOptionalArgs;
import org.springframework.cloud.netflix.eureka.http.RestClientTransportClientFactories;
import org.springframework.web.client.RestClient;

/** Takes an order that closes by itself, and runs until it is asked to end. */
public final class PlainShop {

  private static final String CALLBACK = "/punctual/callback";

  private final String application;
  private final int port;

  private PlainShop(String application, int port) {
    this.application = application;
    this.port = port;
  }

  /**
   * Runs it.
   *
   * @param arguments its name, its port, push or pull, its key, the registry (eureka, zookeeper or
   *     none), and the address of that, or of a scheduler
   */
  public static void main(String[] arguments) throws IOException {
    new PlainShop(arguments[0], Integer.parseInt(arguments[1]))
        .run(arguments[2].equals("push"), arguments[3], arguments[4], arguments[5]);
  }

  private void run(boolean push, String key, String registry, String address) throws IOException {
    switch (registry) {
      case "eureka" -> InEureka.run(this, push, key, address);
      case "zookeeper" -> InZookeeper.run(this, push, key, address);
      default ->
          open(SchedulerSource.of(List.of(URI.create(address))), push, /* here= */ push, key);
    }
  }

  /**
   * Opens the shop.
   *
   * @param here whether it registers at the schedulers
   */
  private void open(SchedulerSource schedulers, boolean push, boolean here, String key)
      throws IOException {
    PunctualClient client =
        PunctualClient.of(application).schedulers(schedulers).worker(new CloseOrder()).build();
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    server.createContext(
        CALLBACK,
        new HttpServerCallback(client.callback(List.of(CallbackSignature.Key.parse(key)))));
    server.start();
    atEnd(
        () -> {
          client.close();
          server.stop(0);
          threads.shutdownNow();
        });
    if (here) {
      client.register(URI.create("http://127.0.0.1:" + port + CALLBACK));
    } else if (!push) {
      client.pull();
    }
    client
        .scheduler()
        .submit(DelayQueueJob.of("order.close").params("1001").delay(Duration.ZERO).build());
  }

  private static void atEnd(Runnable end) {
    Runtime.getRuntime().addShutdownHook(new Thread(end, "end"));
  }

  private static final class CloseOrder implements TaskWorker {

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String order) {
      System.out.println("closing " + order);
    }
  }

  /** Netflix's client has Spring Cloud's settings and transport, and no Spring context. */
  private static final class InEureka {

    static void run(PlainShop shop, boolean push, String key, String address) throws IOException {
      EurekaClientConfigBean settings = new EurekaClientConfigBean();
      settings.setServiceUrl(Map.of("defaultZone", address));
      settings.setRegistryFetchIntervalSeconds(1);
      var transport =
          new RestClientDiscoveryClientOptionalArgs(
              new DefaultEurekaClientHttpRequestFactorySupplier(new TimeoutProperties(), Set.of()),
              RestClient::builder);
      EurekaInstanceConfigBean entry =
          new EurekaInstanceConfigBean(new InetUtils(new InetUtilsProperties()));
      entry.setAppname(shop.application);
      entry.setVirtualHostName(shop.application);
      entry.setInstanceId(shop.application + ":" + shop.port);
      entry.setHostname("127.0.0.1");
      entry.setNonSecurePort(shop.port);
      entry.setMetadataMap(push ? Map.of("punctual-callback", CALLBACK) : Map.of());
      ApplicationInfoManager own =
          new ApplicationInfoManager(entry, new InstanceInfoFactory().create(entry));
      EurekaClient eureka =
          new DiscoveryClient(
              own, settings, new RestClientTransportClientFactories(transport), transport);
      atEnd(eureka::shutdown);
      shop.open(Registries.inEureka(eureka), push, /* here= */ false, key);
      own.setInstanceStatus(InstanceInfo.InstanceStatus.UP);
    }
  }

  private static final class InZookeeper {

    static void run(PlainShop shop, boolean push, String key, String address) throws IOException {
      CuratorFramework zookeeper =
          CuratorFrameworkFactory.newClient(address, new RetryOneTime(1_000));
      zookeeper.start();
      CuratorCache services = CuratorCache.build(zookeeper, "/services");
      services.start();
      shop.open(Registries.inZookeeper(services), push, /* here= */ push, key);
    }
  }
}
