package io.punctual.internal;

import io.punctual.PunctualException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Remembers what it was asked, and refuses as it is told. */
final class AskedLease implements AttemptLease {

  final List<String> asked = new ArrayList<>();
  @Nullable PunctualException refusal;

  @Override
  public void extend(Duration timeToRun) {
    ask("extend " + timeToRun);
  }

  @Override
  public String defer(Duration within) {
    ask("defer " + within);
    return "the-handle";
  }

  private void ask(String what) {
    if (refusal != null) {
      throw refusal;
    }
    asked.add(what);
  }
}
