package io.punctual.example.quarkus;

import io.punctual.DelayQueueJob;
import io.punctual.client.PunctualClient;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.time.Duration;

/** Takes orders that close by themselves, unless they are paid in time. */
@Path("/orders/{order}")
public class Orders {

  private final PunctualClient client;

  public Orders(PunctualClient client) {
    this.client = client;
  }

  /**
   * What became of a job.
   *
   * @param job such as {@code CREATED} or {@code CANCELLED}
   */
  public record Answer(String job) {}

  @PUT
  @Path("{seconds}")
  public Answer place(@PathParam("order") String order, @PathParam("seconds") long seconds) {
    DelayQueueJob job =
        DelayQueueJob.of(CloseOrder.TYPE)
            .taskId(order)
            .params(order)
            .delay(Duration.ofSeconds(seconds))
            .build();
    return new Answer(client.scheduler().submit(job).outcome().name());
  }

  @DELETE
  public Answer pay(@PathParam("order") String order) {
    return new Answer(client.scheduler().cancel(CloseOrder.TYPE, order).outcome().name());
  }
}
