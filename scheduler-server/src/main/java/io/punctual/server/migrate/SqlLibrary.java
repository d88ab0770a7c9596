package io.punctual.server.migrate;

import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** A library that keeps jobs in tables of a database. */
enum SqlLibrary {
  /** db-scheduler; a queue is the name of a task. */
  DB_SCHEDULER(DbSchedulerTable.TABLE) {
    @Override
    SqlTables tables(String table, String queue, String taskType, Options options) {
      return new DbSchedulerTable(table, queue, options.format(), options.clock());
    }
  },
  /** Quartz; a queue is the class of jobs. */
  QUARTZ(QuartzTables.PREFIX) {
    @Override
    SqlTables tables(String table, String queue, String taskType, Options options) {
      return new QuartzTables(table, queue, taskType, options.format(), options.clock());
    }
  },
  /** XXL-JOB; a queue is the name of a handler. */
  XXL_JOB(XxlJobTable.PREFIX) {
    @Override
    SqlTables tables(String table, String queue, String taskType, Options options) {
      return new XxlJobTable(table, queue, taskType, options.zone());
    }
  },
  /** JobRunr; a queue is the signature of jobs. */
  JOBRUNR(JobRunrTables.PREFIX) {
    @Override
    SqlTables tables(String table, String queue, String taskType, Options options) {
      return new JobRunrTables(table, queue, taskType, options.clock());
    }
  };

  // It is part of statements.
  private static final Pattern TABLE = Pattern.compile("[A-Za-z0-9_.$]{1,128}");

  private final String defaultTable;

  SqlLibrary(String defaultTable) {
    this.defaultTable = defaultTable;
  }

  /**
   * How the tables are read.
   *
   * @param zone in which the old side reads times of the day, if its tables do not say
   */
  record Options(PayloadFormat format, ZoneId zone, InstantSource clock) {}

  /** The library of that name, such as {@code db-scheduler}. */
  static Optional<SqlLibrary> named(String name) {
    return Arrays.stream(values()).filter(library -> library.word().equals(name)).findFirst();
  }

  /** The name on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Its table, or the begin of the names of its tables, where the application does not choose. */
  String defaultTable() {
    return defaultTable;
  }

  /** Checks the name of a table. */
  static String requireTable(String option, String name) {
    if (!TABLE.matcher(name).matches()) {
      throw new IllegalArgumentException(
          option + " must be 1 to 128 characters of [A-Za-z0-9_.$], but was '" + name + "'.");
    }
    return name;
  }

  /**
   * Returns its tables.
   *
   * @param table its table, or the begin of the names of its tables
   */
  abstract SqlTables tables(String table, String queue, String taskType, Options options);
}
