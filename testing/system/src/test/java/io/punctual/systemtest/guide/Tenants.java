package io.punctual.systemtest.guide;

import io.punctual.TaskSubmitService;
import io.punctual.schedule.Missed;
import io.punctual.schedule.ScheduleResult;
import io.punctual.schedule.WhileRunning;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** Plans what recurs for each tenant. */
class Tenants {

  private final TaskSubmitService tasks;

  Tenants(TaskSubmitService tasks) {
    this.tasks = tasks;
  }

  @Nullable Instant plan(String tenant, ZoneId zone) {
    ScheduleResult result =
        tasks
            .schedule("report.tenant", tenant)
            .id("tenant:" + tenant)
            .cron("30 2 * * *", zone)
            .missed(Missed.LATEST, Duration.ofHours(2))
            .whileRunning(WhileRunning.QUEUE)
            .put();
    return result.nextAt();
  }

  void leave(String tenant) {
    boolean deleted = tasks.deleteSchedule("report.tenant", "tenant:" + tenant);
    assert deleted || tenant.isEmpty();
  }
}
