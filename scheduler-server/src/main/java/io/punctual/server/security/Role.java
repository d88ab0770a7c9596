package io.punctual.server.security;

/** The rights of an operator. Each role includes the rights of the roles before it. */
public enum Role {
  /** Looks at everything, jobs' contents included. */
  VIEWER,
  /** Cancels, moves, runs, requeues; pauses and bounds queues. */
  OPERATOR,
  /** Purges, and acts for every application. */
  ADMIN;

  /** Whether this role may do what is allowed from the other one on. */
  public boolean includes(Role other) {
    return compareTo(other) >= 0;
  }
}
