package io.punctual.spring.autoconfigure;

import javax.sql.DataSource;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;

/** Makes a table, where that is wanted. */
final class SchemaScript extends DataSourceScriptDatabaseInitializer {

  private SchemaScript(DataSource source, DatabaseInitializationSettings settings) {
    super(source, settings);
  }

  static SchemaScript of(DataSource source, String table, InitializeSchema when) {
    DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
    settings.setMode(DatabaseInitializationMode.valueOf(when.name()));
    if (when != InitializeSchema.NEVER) {
      settings.setSchemaLocations(
          new PlatformPlaceholderDatabaseDriverResolver()
              .resolveAll(
                  source, "classpath:io/punctual/schema/@@platform@@/R__%s.sql".formatted(table)));
    }
    return new SchemaScript(source, settings);
  }
}
