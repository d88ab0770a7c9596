package io.punctual.server;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.test.web.server.LocalServerPort;

/** A scheduler and a client of it. */
public abstract class ServerTestBase {

  @LocalServerPort protected int port;
  protected ApiClient api;

  @BeforeEach
  void connectApi() {
    api = new ApiClient(port);
  }

  @AfterEach
  void closeApi() {
    api.close();
  }
}
