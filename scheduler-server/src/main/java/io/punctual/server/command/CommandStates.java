package io.punctual.server.command;

import io.punctual.core.JobView;

/** The states of a job as the command protocol names them. */
final class CommandStates {

  private CommandStates() {}

  static String of(JobView job) {
    return switch (job.state()) {
      case DELAYED -> job.ready() ? "ready" : "delay";
      case RESERVED -> "reserved";
      case DEAD -> "dead";
      case FINISHED, CANCELLED -> "deleted";
    };
  }
}
