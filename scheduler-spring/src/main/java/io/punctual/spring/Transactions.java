package io.punctual.spring;

/** Says when calls inside a Spring transaction take effect. */
public enum Transactions {
  /** When it has committed; never if it is rolled back. */
  AFTER_COMMIT,
  /** At once, whatever becomes of it. */
  IMMEDIATE
}
