package io.punctual.demo.order.partner;

/** How well the partner is. */
public enum PartnerMode {
  /** It takes each payment at once. */
  UP,
  /** It fails every second time. */
  FLAKY,
  /** It fails each time. */
  DOWN
}
