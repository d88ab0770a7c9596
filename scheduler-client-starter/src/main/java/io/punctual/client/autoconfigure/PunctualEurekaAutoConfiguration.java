package io.punctual.client.autoconfigure;

import com.netflix.appinfo.ApplicationInfoManager;
import io.punctual.client.ClientIdentity;
import io.punctual.client.PunctualClientProperties;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.callback.JobRunner;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.MetadataPublisher;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.WorkerMetadata;
import io.punctual.worker.TaskWorkers;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** What Eureka is told. */
@AutoConfiguration(
    after = PunctualCallbackAutoConfiguration.class,
    afterName = "org.springframework.cloud.netflix.eureka.EurekaClientAutoConfiguration")
@ConditionalOnClass(ApplicationInfoManager.class)
@ConditionalOnBean({CallbackHandler.class, ApplicationInfoManager.class})
public class PunctualEurekaAutoConfiguration {

  @Bean
  MetadataPublisher punctualMetadataPublisher(
      ApplicationInfoManager registration,
      TaskWorkers workers,
      PunctualClientProperties properties,
      Environment environment) {
    return new MetadataPublisher(
        registration,
        new WorkerMetadata(
            workers.types(),
            CallbackPath.of(environment, properties.callback().path()),
            WorkerMetadata.BATCH,
            properties.concurrency()));
  }

  /** Only where there are workers: nobody calls an application that submits and nothing else. */
  @Bean(destroyMethod = "close")
  @ConditionalOnProperty(prefix = "punctual.client.callback", name = "check", matchIfMissing = true)
  ReachReport punctualReachReport(
      ClientIdentity identity, ApplicationInfoManager registration, SchedulerCalls calls) {
    // Later: the port may not be known yet.
    return new ReachReport(identity, () -> registration.getInfo().getInstanceId(), calls);
  }

  @Bean
  @ConditionalOnBean(ReachReport.class)
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
      ApplicationInfoManager registration, JobRunner runner, PunctualClientProperties properties) {
    return new MetadataPublisher.Drain(registration, runner, properties.shutdown().drainTimeout());
  }
}
