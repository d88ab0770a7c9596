package io.punctual.spring.client;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.client.registry.MetadataPublisher;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cloud.netflix.eureka.EurekaServiceInstance;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;

/** What Eureka is told. */
@AutoConfiguration(
    after = PunctualCallbackAutoConfiguration.class,
    afterName = "org.springframework.cloud.netflix.eureka.EurekaClientAutoConfiguration")
@ConditionalOnClass(ApplicationInfoManager.class)
@ConditionalOnBean({CallbackHandler.class, ApplicationInfoManager.class})
public class PunctualEurekaAutoConfiguration {

  @Bean(StartupReport.PUBLISHER)
  MetadataPublisher punctualMetadataPublisher(
      ApplicationInfoManager registration, EurekaInstanceConfig settings, WorkerMetadata metadata) {
    return new MetadataPublisher(registration, settings, metadata);
  }

  /** As schedulers put it together. */
  @Bean
  AdvertisedCallback punctualAdvertisedCallback(
      ApplicationInfoManager registration, WorkerMetadata metadata) {
    return new AdvertisedCallback() {
      @Override
      public URI address() {
        return URI.create(
            new EurekaServiceInstance(registration.getInfo()).getUri() + metadata.callbackPath());
      }

      @Override
      public String instance() {
        return new EurekaServiceInstance(registration.getInfo()).getInstanceId();
      }
    };
  }

  /** Only where there are workers: nobody calls an application that submits and nothing else. */
  @Bean(destroyMethod = "close")
  ReachReport punctualReachReport(
      ClientIdentity identity, ApplicationInfoManager registration, SchedulerCalls calls) {
    // Later: the port may not be known yet.
    return new ReachReport(identity, () -> registration.getInfo().getInstanceId(), calls);
  }

  @Bean
  ApplicationListener<ApplicationReadyEvent> punctualReachReportStart(
      ReachReport report, TaskWorkers workers) {
    return event -> {
      if (!workers.types().isEmpty()) {
        report.start();
      }
    };
  }

  @Bean
  MetadataPublisher.Drain punctualDrain(
      ApplicationInfoManager registration, JobRunner runner, PunctualProperties properties) {
    return new MetadataPublisher.Drain(registration, runner, properties.shutdownPatience());
  }
}
