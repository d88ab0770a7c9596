package io.punctual.client.submit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerLocatorTest {

  @Test
  void showsSchedulersWithoutUsersAndPasswords() {
    List<URI> schedulers = List.of(URI.create("http://user:secret@scheduler-1.example:8080"));

    assertThat(new SchedulerLocator(() -> schedulers).shown())
        .isEqualTo("[http://***@scheduler-1.example:8080]");
  }
}
