package io.punctual.core.store;

import io.punctual.core.store.Durability.Level;
import io.punctual.core.store.StoreNode.Persistence;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The command behind a change, on the same connection, that answers once the change is where it
 * must be: WAIT for replicas, WAITAOF for the disk.
 *
 * <p>Where Redis writes its log with {@code appendfsync always}, it answers nobody before the
 * fsync, so that no command is needed; WAITAOF exists since 7.2.
 */
final class Confirmation {

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);
  private static final String KEY_SUFFIX = "confirmed";
  private static final int SYNC_MAJOR = 7;
  private static final int SYNC_MINOR = 2;

  private final Durability durability;
  private final StoreInspector inspector;
  // Others may take the servers' place, with other settings.
  private volatile @Nullable Known known;

  private record Known(boolean asksForSync, long until) {}

  Confirmation(Durability durability, StoreInspector inspector) {
    this.durability = durability;
    this.inspector = inspector;
  }

  /**
   * What to send behind a script; empty if its answer is enough.
   *
   * <p>Both commands promise something of the writes of their own connection only. A submit that
   * found its job there already wrote nothing, and yet must not be confirmed before the one that
   * did, whose confirmation may have failed: hence a write in front.
   *
   * @param tag of the bucket
   */
  List<CommandArguments> commands(String tag) {
    if (durability.level() == Level.REDIS
        || (durability.level() == Level.SYNCED && !asksForSync())) {
      return List.of();
    }
    CommandArguments write =
        new CommandArguments(Protocol.Command.SET).add(tag + ":" + KEY_SUFFIX).add("");
    long patience = durability.patience().toMillis();
    CommandArguments wait =
        durability.level() == Level.SYNCED
            ? new CommandArguments(Protocol.Command.WAITAOF).add(1).add(0).add(patience)
            : new CommandArguments(Protocol.Command.WAIT).add(durability.replicas()).add(patience);
    return List.of(write, wait);
  }

  private boolean asksForSync() {
    Known before = known;
    if (before != null && System.nanoTime() - before.until() < 0) {
      return before.asksForSync();
    }
    List<StoreNode> nodes = inspector.nodes();
    for (StoreNode node : nodes) {
      String obstacle = obstacleToSync(node);
      if (!obstacle.isEmpty()) {
        throw new StoreException(
            StoreException.Kind.REFUSED, "durability synced cannot be kept: " + obstacle);
      }
    }
    boolean asks = !nodes.stream().allMatch(node -> node.persistence() == Persistence.SYNCED_LOG);
    known = new Known(asks, System.nanoTime() + LOOK_AGAIN.toNanos());
    return asks;
  }

  /** Why a Redis cannot promise that a change is on its disk; empty if it can. */
  static String obstacleToSync(StoreNode node) {
    Persistence persistence = node.persistence();
    boolean waits = node.atLeast(SYNC_MAJOR, SYNC_MINOR);
    if (persistence == Persistence.SYNCED_LOG
        || (waits && (persistence == Persistence.LOG || persistence == Persistence.UNKNOWN))) {
      return "";
    }
    String found = "Redis at " + node.address() + " is version " + node.version();
    return switch (persistence) {
      case LOG ->
          found
              + " and does not say that it has appendfsync always, and WAITAOF came with 7.2:"
              + " set appendfsync always and let it be read (+config|get), or use Redis 7.2 or"
              + " newer";
      case UNKNOWN ->
          found
              + " and does not say how it is set up (INFO, CONFIG GET):"
              + " allow that, or use Redis 7.2 or newer";
      default ->
          found
              + " and keeps no append-only file:"
              + " set appendonly yes"
              + (waits ? "" : " and appendfsync always");
    };
  }

  /** An answer to one of the {@link #commands}; an error says that nothing is confirmed. */
  static Object answer(Supplier<Object> command) {
    try {
      return command.get();
    } catch (JedisDataException e) {
      throw new StoreException(
          StoreException.Kind.UNCONFIRMED,
          "it is done, but Redis did not confirm it: " + e.getMessage(),
          e);
    }
  }

  /**
   * Reads the answers.
   *
   * @param answers to {@link #commands}
   * @throws StoreException if not enough confirmed in time
   */
  void check(List<Object> answers) {
    if (answers.isEmpty()) {
      return;
    }
    Object last = answers.get(answers.size() - 1);
    long confirmed = (Long) (last instanceof List<?> both ? both.get(0) : last);
    long wanted = Math.max(1, durability.replicas());
    if (confirmed < wanted) {
      throw new StoreException(
          StoreException.Kind.UNCONFIRMED,
          "it is done, but within "
              + durability.patience().toMillis()
              + " ms "
              + (durability.level() == Level.SYNCED
                  ? "Redis did not confirm that it is on the disk"
                  : "only " + confirmed + " of " + wanted + " replicas confirmed it"));
    }
  }
}
