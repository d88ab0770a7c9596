package io.punctual.spring.autoconfigure;

/** Says when a table is created at the start. */
public enum InitializeSchema {
  /** In databases that live in this process's memory. */
  EMBEDDED,
  /** In all. */
  ALWAYS,
  /** The application sees to it. */
  NEVER
}
