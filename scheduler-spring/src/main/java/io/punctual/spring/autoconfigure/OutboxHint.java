package io.punctual.spring.autoconfigure;

import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.env.Environment;
import org.springframework.transaction.PlatformTransactionManager;

/** Says at the start that jobs can be lost with the process, and that the outbox keeps them. */
final class OutboxHint implements SmartInitializingSingleton {

  private static final Logger log = LoggerFactory.getLogger(OutboxHint.class);

  private final ListableBeanFactory beans;
  private final Environment environment;

  OutboxHint(ListableBeanFactory beans, Environment environment) {
    this.beans = beans;
    this.environment = environment;
  }

  @Override
  public void afterSingletonsInstantiated() {
    if (has(DataSource.class)
        && has(PlatformTransactionManager.class)
        && !"immediate".equalsIgnoreCase(environment.getProperty("punctual.transactions"))) {
      log.info(
          "Punctual: the outbox is off. Jobs that a transaction sends are kept in memory from its"
              + " commit until a scheduler has them, and are lost if the process dies in between."
              + " punctual.outbox.enabled=true keeps them in the database.");
    }
  }

  private boolean has(Class<?> type) {
    return beans.getBeanNamesForType(
                type, /* includeNonSingletons= */ true, /* allowEagerInit= */ false)
            .length
        > 0;
  }
}
