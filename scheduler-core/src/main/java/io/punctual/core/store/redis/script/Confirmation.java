package io.punctual.core.store.redis.script;

import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.Durability.Level;
import io.punctual.core.store.durability.Reached;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Persistence;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Confirms a change: sends a command on the same connection that answers once the change has
 * reached its durability. WAIT does this for replicas, WAITAOF for the disk.
 *
 * <p>Where Redis writes its log with {@code appendfsync always}, it answers nothing before the
 * fsync, so that no command is needed; WAITAOF exists since 7.2.
 */
public final class Confirmation {

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);
  private static final int SYNC_MAJOR = 7;
  private static final int SYNC_MINOR = 2;

  private final Durability durability;
  private final StoreInspector inspector;
  private final Replicas replicas;
  // Others may take the servers' place, with other settings.
  private volatile @Nullable Fit fit;

  /**
   * The servers can keep durability synced.
   *
   * @param unasked whether all of them did so without being asked. If that changes, they are read
   *     again: before 7.2, Redis cannot be asked
   * @param until by System.nanoTime()
   */
  private record Fit(boolean unasked, long until) {}

  /** Commands to send behind a script; empty if its answer is enough. */
  record Commands(String node, List<CommandArguments> list) {
    static final Commands NONE = new Commands("", List.of());
  }

  public Confirmation(Durability durability, StoreInspector inspector, Replicas replicas) {
    this.durability = durability;
    this.inspector = inspector;
    this.replicas = replicas;
  }

  /**
   * Refuses a change that cannot be made durable.
   *
   * @throws StoreException if Redis cannot keep durability synced
   */
  public void requireFit() {
    Fit before = fit;
    if (durability.level() != Level.SYNCED
        || (before != null
            && before.unasked() == inspector.synced("")
            && System.nanoTime() - before.until() < 0)) {
      return;
    }
    List<String> obstacles = inspector.obstacles(inspector.nodes());
    if (!obstacles.isEmpty()) {
      throw new StoreException(
          StoreException.Kind.REFUSED, "durability synced cannot be kept: " + obstacles.get(0));
    }
    fit = new Fit(inspector.synced(""), System.nanoTime() + LOOK_AGAIN.toNanos());
  }

  /**
   * What to send behind a script.
   *
   * <p>Both commands promise something of the writes of their own connection only. A submit that
   * found its job there already wrote nothing, and yet must not be confirmed before the one that
   * did, whose confirmation may have failed: hence a write in front.
   *
   * <p>Call {@link #requireFit} before the script.
   *
   * @param name of the node; empty if there is one
   * @param tag of the bucket
   */
  public Commands commands(String name, String tag, Replicas.Node node) {
    String key = tag + Keys.CONFIRMED;
    return switch (durability.level()) {
      case REDIS -> new Commands(name, List.of());
      case SYNCED ->
          inspector.synced(name)
              ? new Commands(name, List.of())
              : new Commands(name, List.of(write(key), waitForDisk()));
      case AUTO ->
          replicas.confirm(name, key, node)
              ? new Commands(name, List.of(write(key), waitFor(1, durability.patience())))
              : new Commands(name, List.of());
      case REPLICATED ->
          new Commands(
              name, List.of(write(key), waitFor(durability.replicas(), durability.patience())));
    };
  }

  public static CommandArguments write(String key) {
    return new CommandArguments(Protocol.Command.SET).add(key).add("");
  }

  public static CommandArguments waitFor(int replicas, Duration patience) {
    return new CommandArguments(Protocol.Command.WAIT).add(replicas).add(patience.toMillis());
  }

  private CommandArguments waitForDisk() {
    return new CommandArguments(Protocol.Command.WAITAOF)
        .add(1)
        .add(0)
        .add(durability.patience().toMillis());
  }

  /** Why a Redis cannot promise that a change is on its disk; empty if it can. */
  public static String obstacleToSync(StoreNode node) {
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
      case LAZY_LOG -> found + " and has appendfsync no: set appendfsync always";
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

  /**
   * An answer to one of the {@link #commands}; an error says that nothing is confirmed.
   *
   * @throws StoreException if it is an error; with AUTO the error is the answer
   */
  public Object answer(Supplier<Object> command) {
    try {
      return command.get();
    } catch (JedisDataException e) {
      if (durability.level() == Level.AUTO) {
        return e;
      }
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
   * @throws StoreException if not enough confirmed in time; never with AUTO
   */
  Reached check(Commands commands, List<Object> answers) {
    if (commands.list().isEmpty()) {
      return alone(commands);
    }
    Object last = answers.get(answers.size() - 1);
    boolean refused = answers.stream().anyMatch(JedisDataException.class::isInstance);
    long confirmed = refused ? 0 : (Long) (last instanceof List<?> both ? both.get(0) : last);
    long wanted = Math.max(1, durability.replicas());
    if (confirmed >= wanted) {
      return durability.level() == Level.SYNCED ? alone(commands) : Reached.replicated(confirmed);
    }
    if (durability.level() == Level.AUTO) {
      if (!refused || last instanceof JedisDataException) {
        replicas.silent(commands.node());
      }
      return alone(commands);
    }
    throw new StoreException(
        StoreException.Kind.UNCONFIRMED,
        "it is done, but within "
            + durability.patience().toMillis()
            + " ms "
            + (durability.level() == Level.SYNCED
                ? "Redis did not confirm that it is on the disk"
                : "only " + confirmed + " of " + wanted + " replicas confirmed it"));
  }

  /** Notes that a change was acknowledged. */
  void acknowledged(Reached reached) {
    if (reached.level() != Level.REPLICATED) {
      replicas.unconfirmed();
    }
  }

  private Reached alone(Commands commands) {
    return durability.level() == Level.SYNCED || inspector.synced(commands.node())
        ? Reached.SYNCED
        : Reached.REDIS;
  }
}
