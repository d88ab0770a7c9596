package io.punctual.demo.order;

import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The stock. */
@Repository
class Items {

  private final JdbcClient db;

  Items(JdbcClient db) {
    this.db = db;
  }

  List<Item> all() {
    return db.sql("select name, cents, available from items order by cents")
        .query(
            (row, number) ->
                new Item(row.getString("name"), row.getInt("cents"), row.getInt("available")))
        .list();
  }

  /**
   * Takes one.
   *
   * @return whether there was one
   */
  boolean take(String name) {
    return db.sql("update items set available = available - 1 where name = :name and available > 0")
            .param("name", name)
            .update()
        == 1;
  }

  void giveBack(String name) {
    db.sql("update items set available = available + 1 where name = :name")
        .param("name", name)
        .update();
  }
}
