package io.punctual.spring;

/** When calls that are made inside of a Spring transaction take effect. */
public enum Transactions {
  /** When it has committed; never if it is rolled back. */
  AFTER_COMMIT,
  /** At once, whatever becomes of it. */
  IMMEDIATE
}
