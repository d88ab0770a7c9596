package io.punctual.demo.order.partner;

/** The partner's state: whether it answers. */
public enum PartnerMode {
  /** It takes each payment at once. */
  UP,
  /** It fails every second time. */
  FLAKY,
  /** It fails each time. */
  DOWN
}
