package io.punctual.spring.outbox;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Tells of each statement before it is prepared. */
final class Statements extends DelegatingDataSource {

  /** Hears of statements. */
  interface Listener {
    void prepares(String sql) throws SQLException;
  }

  private final Listener listener;

  Statements(DataSource source, Listener listener) {
    super(source);
    this.listener = listener;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    return (Connection)
        Proxy.newProxyInstance(
            Statements.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")) {
                listener.prepares((String) arguments[0]);
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }
}
