package io.punctual.spring.client.container;

import io.punctual.spring.client.PunctualConnectionDetails;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** A scheduler in a test's container with {@code @ServiceConnection}. */
final class TestcontainersConnectionDetailsFactory
    extends ContainerConnectionDetailsFactory<Container<?>, PunctualConnectionDetails> {

  TestcontainersConnectionDetailsFactory() {
    super(SchedulerContainer.NAME);
  }

  @Override
  protected PunctualConnectionDetails getContainerConnectionDetails(
      ContainerConnectionSource<Container<?>> source) {
    return new Details(source);
  }

  private static final class Details extends ContainerConnectionDetails<Container<?>>
      implements PunctualConnectionDetails {

    Details(ContainerConnectionSource<Container<?>> source) {
      super(source);
    }

    @Override
    public List<URI> getUrls() {
      return SchedulerContainer.urls(
          getContainer().getHost(), getContainer().getMappedPort(SchedulerContainer.PORT));
    }

    @Override
    public @Nullable String getToken() {
      return SchedulerContainer.token(getContainer().getEnvMap());
    }
  }
}
