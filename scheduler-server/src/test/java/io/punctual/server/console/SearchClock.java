package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.server.jobs.JobSearch;
import io.punctual.server.metrics.QueueStatistics;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/** The clock by which a search of the console ends a page: it stands still until told to go on. */
@TestConfiguration
public class SearchClock {

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong step = new AtomicLong();

  /** How far it goes each time that it is read. */
  public void goOnBy(Duration time) {
    step.set(time.toNanos());
  }

  @Bean
  @Primary
  JobFinder finderByThisClock(Engine engine, JobSearch search, QueueStatistics statistics) {
    return new JobFinder(engine, search, statistics, () -> nanos.addAndGet(step.get()));
  }
}
