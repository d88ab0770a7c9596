package io.punctual.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CallerTest {

  @Test
  void anAdminOfThatNameIsNotTheCallerOfTheQuickstart() {
    Callers.operator(
        "anybody",
        () -> {
          Caller admin = Caller.current();
          assertThat(admin.isAnybody()).isFalse();
          assertThat(admin.submitter()).isEqualTo("anybody");
          assertThat(admin.account()).isEqualTo("operator anybody");
        });
    Callers.anybody(
        () -> {
          assertThat(Caller.current().isAnybody()).isTrue();
          assertThat(Caller.current().submitter()).isNull();
          assertThat(Caller.current().account()).isNull();
        });
  }
}
