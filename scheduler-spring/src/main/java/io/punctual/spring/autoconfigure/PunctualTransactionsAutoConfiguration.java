package io.punctual.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.JobApplication;
import io.punctual.spring.jdbc.Database;
import io.punctual.spring.once.DatabaseOnce;
import io.punctual.spring.once.OnceFilter;
import io.punctual.spring.once.OnceFilters;
import io.punctual.spring.once.OnceSource;
import io.punctual.spring.outbox.Outbox;
import io.punctual.spring.outbox.OutboxHealthIndicator;
import io.punctual.spring.outbox.OutboxMetrics;
import io.punctual.spring.outbox.OutboxOptions;
import io.punctual.spring.outbox.OutboxRelay;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;

/** The outbox, where it is switched on, and filters for workers that want one. */
@AutoConfiguration(
    afterName = {
      "io.punctual.spring.client.PunctualClientAutoConfiguration",
      "io.punctual.spring.plugin.PunctualPluginAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
    })
@ConditionalOnBean(JobApplication.class)
@EnableConfigurationProperties(PunctualProperties.class)
public class PunctualTransactionsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  OnceFilters punctualOnceFilters(
      ObjectProvider<OnceSource> source, ObjectProvider<SkippedJobs> skipped) {
    return new OnceFilters(
        source.getIfAvailable(), skipped.getIfAvailable(() -> type -> {})::skipped);
  }

  private static <T> T only(ObjectProvider<T> beans, String what, String user) {
    T found = beans.getIfUnique();
    if (found != null) {
      return found;
    }
    long number = beans.stream().count();
    throw number == 0
        ? new WorkerSetupException(
            "%s needs a %s, and there is none.".formatted(user, what),
            "Add spring-boot-starter-jdbc or spring-boot-starter-data-jpa, and set"
                + " spring.datasource; or unset it.")
        : new WorkerSetupException(
            "%s needs a %s, and there are %d, none of them primary.".formatted(user, what, number),
            "Mark the one that the application's own data are in as @Primary.");
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBooleanProperty(
      name = "punctual.outbox.enabled",
      havingValue = false,
      matchIfMissing = true)
  @ConditionalOnClass({DataSourceScriptDatabaseInitializer.class, JdbcTemplate.class})
  static class NoOutboxConfiguration {

    @Bean
    OutboxHint punctualOutboxHint(ListableBeanFactory beans, Environment environment) {
      return new OutboxHint(beans, environment);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(prefix = "punctual.outbox", name = "enabled")
  @ConditionalOnMissingClass(
      "org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer")
  static class OutboxWithoutJdbc {

    @Bean
    OnceSource punctualOutboxWithoutJdbc() {
      throw new WorkerSetupException(
          "punctual.outbox.enabled is set, and JDBC is not on the class path.",
          "Add spring-boot-starter-jdbc or spring-boot-starter-data-jpa, and a DataSource; or unset"
              + " it.");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(prefix = "punctual.outbox", name = "enabled")
  @ConditionalOnClass({DataSourceScriptDatabaseInitializer.class, JdbcTemplate.class})
  static class OutboxConfiguration {

    private static final String USER = "punctual.outbox.enabled";

    @Bean
    @ConditionalOnMissingBean(name = "punctualOutboxSchema")
    SchemaScript punctualOutboxSchema(
        ObjectProvider<DataSource> sources, PunctualProperties properties) {
      return SchemaScript.of(
          only(sources, "DataSource", USER), "punctual_outbox", properties.initializeSchema());
    }

    @Bean
    Outbox punctualOutbox(
        ObjectProvider<DataSource> sources,
        JobApplication application,
        ObjectProvider<CommitFailures> failures) {
      return new Outbox(
          Database.of(only(sources, "DataSource", USER), USER),
          application.name(),
          failures.getIfAvailable(() -> CommitFailures.NONE));
    }

    @Bean
    @ConditionalOnMissingBean
    OutboxOptions punctualOutboxOptions(PunctualProperties properties) {
      return OutboxOptions.keeping(properties.outbox().keepSent());
    }

    @Bean
    @ConditionalOnMissingBean(name = "punctualOutboxRelay")
    OutboxRelay punctualOutboxRelay(Outbox outbox, JobScheduler scheduler, OutboxOptions options) {
      return new OutboxRelay(outbox, scheduler, options);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty("punctual.outbox.keep-sent")
    static class KeptJobs {

      @Bean
      @ConditionalOnMissingBean(name = "punctualSentSchema")
      SchemaScript punctualSentSchema(
          ObjectProvider<DataSource> sources, PunctualProperties properties) {
        return SchemaScript.of(
            only(sources, "DataSource", USER), "punctual_sent", properties.initializeSchema());
      }

      @Bean
      JobListener punctualDoneJobs(Outbox outbox) {
        return attempt -> {
          if (attempt.outcome() == JobAttempt.Outcome.DONE) {
            outbox.done(attempt.taskType(), attempt.taskId());
          }
        };
      }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Metrics {

      @Bean
      OutboxMetrics punctualOutboxMetrics(Outbox outbox, PunctualProperties properties) {
        return new OutboxMetrics(outbox, properties.outbox().keepSent() != null);
      }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static class Health {

      @Bean
      @ConditionalOnEnabledHealthIndicator("punctualOutbox")
      OutboxHealthIndicator punctualOutboxHealthIndicator(
          Outbox outbox, PunctualProperties properties) {
        return new OutboxHealthIndicator(outbox, properties.outbox().keepSent() != null);
      }
    }
  }

  /** Hears of each job that was left out. */
  @FunctionalInterface
  interface SkippedJobs {
    void skipped(String taskType);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class OnceMetrics {

    @Bean
    SkippedJobs punctualSkippedJobs(ObjectProvider<MeterRegistry> registries) {
      return type -> {
        MeterRegistry registry = registries.getIfAvailable();
        if (registry != null) {
          registry.counter("punctual.client.once.skipped", "task.type", type).increment();
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({DataSourceScriptDatabaseInitializer.class, JdbcTemplate.class})
  static class DatabaseOnceConfiguration {

    private static final String USER = "once: database";

    @Bean
    OnceSource punctualDatabaseOnce(
        ObjectProvider<DataSource> sources,
        ObjectProvider<PlatformTransactionManager> transactions,
        JobApplication application,
        PunctualProperties properties) {
      return new DatabaseOnceSource(sources, transactions, application, properties);
    }
  }

  private static final class DatabaseOnceSource implements OnceSource, SmartInitializingSingleton {

    private final ObjectProvider<DataSource> sources;
    private final ObjectProvider<PlatformTransactionManager> transactions;
    private final JobApplication application;
    private final PunctualProperties properties;
    private @Nullable Database opened;
    private boolean migrated;

    DatabaseOnceSource(
        ObjectProvider<DataSource> sources,
        ObjectProvider<PlatformTransactionManager> transactions,
        JobApplication application,
        PunctualProperties properties) {
      this.sources = sources;
      this.transactions = transactions;
      this.application = application;
      this.properties = properties;
    }

    @Override
    public synchronized OnceFilter open() {
      DataSource source = only(sources, "DataSource", DatabaseOnceConfiguration.USER);
      Database database = Database.of(source, DatabaseOnceConfiguration.USER);
      var unused =
          SchemaScript.of(source, "punctual_once", properties.initializeSchema())
              .initializeDatabase();
      opened = database;
      if (migrated) {
        require(database);
      }
      return new DatabaseOnce(
          database,
          only(transactions, "TransactionManager", DatabaseOnceConfiguration.USER),
          application.name(),
          properties.once().retention());
    }

    // Workers may be there before Flyway's or Liquibase's work is done.
    @Override
    public synchronized void afterSingletonsInstantiated() {
      migrated = true;
      if (opened != null) {
        require(opened);
      }
    }

    private static void require(Database database) {
      database.require("punctual_once", "task_type", DatabaseOnceConfiguration.USER);
    }
  }
}
