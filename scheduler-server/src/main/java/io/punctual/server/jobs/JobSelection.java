package io.punctual.server.jobs;

/** The jobs of a bulk operation: those that match a filter, or those with given ids. */
public sealed interface JobSelection permits JobFilter, JobIds {

  /** As a search of the console has it. */
  String text();
}
