package io.punctual.spring.client.container;

import io.punctual.spring.client.PunctualConnectionDetails;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;

/** A scheduler among the services of the application's Compose file. */
final class ComposeConnectionDetailsFactory
    extends DockerComposeConnectionDetailsFactory<PunctualConnectionDetails> {

  ComposeConnectionDetailsFactory() {
    super(SchedulerContainer.NAME);
  }

  @Override
  protected PunctualConnectionDetails getDockerComposeConnectionDetails(
      DockerComposeConnectionSource source) {
    return new Details(source.getRunningService());
  }

  private static final class Details extends DockerComposeConnectionDetails
      implements PunctualConnectionDetails {

    private final List<URI> urls;
    private final @Nullable String token;

    Details(RunningService service) {
      super(service);
      this.urls =
          SchedulerContainer.urls(service.host(), service.ports().get(SchedulerContainer.PORT));
      this.token = SchedulerContainer.token(service.env());
    }

    @Override
    public List<URI> getUrls() {
      return urls;
    }

    @Override
    public @Nullable String getToken() {
      return token;
    }
  }
}
