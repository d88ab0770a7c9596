package io.punctual.wire;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Why a worker lets a call not in, in a word: for the scheduler, which tells people the cure. */
public enum CallbackRefusal {
  /** The worker has no key, and so takes calls of nobody. */
  NO_KEY,
  /** It has no key, and takes calls of its own machine only. */
  NOT_THIS_MACHINE,
  /** The call is not signed, or not as a scheduler does it. */
  UNSIGNED,
  /** It is signed with another key, or was changed on its way. */
  WRONG_SIGNATURE,
  /** It is signed at a time that is too far from the worker's clock. */
  CLOCK,
  /** The lease of its jobs ended before it came, by the worker's clock. */
  LATE,
  /** It was here before. */
  REPEATED,
  /** It is for another application. */
  OTHER_APPLICATION,
  /** It is for another instance of the application. */
  OTHER_INSTANCE;

  /** Response header: the {@link #word()}. */
  public static final String HEADER = "Punctual-Refusal";

  /** As it stands in the header. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The refusal of that word; empty if it is none. */
  public static Optional<CallbackRefusal> of(String word) {
    return Arrays.stream(values()).filter(refusal -> refusal.word().equals(word)).findFirst();
  }
}
