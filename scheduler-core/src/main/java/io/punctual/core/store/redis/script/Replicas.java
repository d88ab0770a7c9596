package io.punctual.core.store.redis.script;

import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreNode.Finding;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Whether replicas confirm changes, for each node that holds jobs: what durability {@code auto}
 * goes by. A node is asked when it is first used, and then by {@link StoreInspector#replicas()}
 * alone. A change that no replica confirmed in time makes the node count as one without replicas
 * until one confirms again, so that one change in all waits in vain.
 */
public final class Replicas {

  private static final Pattern CONNECTED = Pattern.compile("connected_slaves:(\\d+)");

  private static final Pattern REFUSAL =
      Pattern.compile("NOPERM|[Uu]nknown (Redis )?command|not allowed|not supported");

  /** Sends commands to one node, all on one connection. */
  public interface Node {
    /**
     * Sends commands, one after the other.
     *
     * @return their answers
     * @throws JedisDataException if one of them is an error
     */
    List<Object> send(List<CommandArguments> commands);
  }

  private enum State {
    CONFIRM,
    /** None is connected. */
    NONE,
    /** Some are connected, and none confirmed in time. */
    SILENT,
    /** The node refuses WAIT. */
    REFUSED
  }

  /**
   * What was seen of a node.
   *
   * @param key of ours that the node holds
   * @param confirmed whether a replica of it ever confirmed
   * @param refusal what the node answered
   */
  private record Seen(State state, String key, boolean confirmed, String refusal) {}

  private final Map<String, Seen> nodes = new ConcurrentHashMap<>();
  private final Duration patience;
  private final boolean changes;
  private final boolean ends;
  // By System.nanoTime(); null if all were confirmed.
  private volatile @Nullable Long unconfirmedAt;

  public Replicas(StoreOptions options) {
    this.patience = options.durability().patience();
    this.changes = options.durability().level() == Durability.Level.AUTO;
    this.ends = options.confirmEnds();
  }

  /** Whether changes or the ends of attempts go by what replicas confirm. */
  public boolean areAsked() {
    return changes || ends;
  }

  /** Whether to wait for a replica behind a change on that node. */
  boolean confirm(String name, String key, Node node) {
    Seen seen = nodes.get(name);
    if (seen == null) {
      look(name, key, node);
      seen = nodes.get(name);
    }
    return seen != null && seen.state() == State.CONFIRM;
  }

  /** No replica confirmed a change in time. */
  public void silent(String name) {
    nodes.computeIfPresent(
        name, (n, seen) -> new Seen(State.SILENT, seen.key(), seen.confirmed(), ""));
  }

  /** Notes that a change was acknowledged without a replica's confirmation. */
  void unconfirmed() {
    unconfirmedAt = System.nanoTime();
  }

  /** Whether replicas had confirmed all changes that were acknowledged within that time. */
  public boolean allConfirmed(Duration within) {
    Long last = unconfirmedAt;
    return last == null || System.nanoTime() - last > within.toNanos();
  }

  /** The nodes that were used, with a key that each holds. */
  public Map<String, String> used() {
    Map<String, String> used = new TreeMap<>();
    nodes.forEach((name, seen) -> used.put(name, seen.key()));
    return used;
  }

  /** The node is not used any more. */
  public void forget(String name) {
    nodes.remove(name);
  }

  /** Asks a node whether its replicas confirm a write. */
  public void look(String name, String key, Node node) {
    Seen before = nodes.get(name);
    boolean confirmed = before != null && before.confirmed();
    try {
      State state = ask(key, node);
      nodes.put(name, new Seen(state, key, confirmed || state == State.CONFIRM, ""));
    } catch (JedisDataException e) {
      String message = String.valueOf(e.getMessage());
      if (REFUSAL.matcher(message).find()) {
        nodes.put(name, new Seen(State.REFUSED, key, confirmed, message));
      }
      // Else it is for now: a full memory, a slot that moves. What was seen before stays.
    }
  }

  private State ask(String key, Node node) {
    byte[] info =
        (byte[])
            node.send(List.of(new CommandArguments(Protocol.Command.INFO).add("replication")))
                .get(0);
    Matcher connected = CONNECTED.matcher(new String(info, StandardCharsets.UTF_8));
    if (!connected.find() || connected.group(1).equals("0")) {
      return State.NONE;
    }
    List<Object> answers =
        node.send(List.of(Confirmation.write(key), Confirmation.waitFor(1, patience)));
    return (Long) answers.get(1) > 0 ? State.CONFIRM : State.SILENT;
  }

  /** What is wrong, by node; a node that never had a replica is as it was set up. */
  public List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    for (String name : used().keySet()) {
      Seen seen = nodes.get(name);
      Finding finding = seen == null ? null : finding(name, seen);
      if (finding != null) {
        findings.add(finding);
      }
    }
    return findings;
  }

  private @Nullable Finding finding(String name, Seen seen) {
    String redis = "Redis" + (name.isEmpty() ? "" : " at " + name);
    String alone =
        changes
            ? ": changes are acknowledged as soon as Redis itself has them"
                + " (Punctual-Durability: redis); "
            : ": ends of attempts wait for no replica, so a job runs again if a fail-over loses its"
                + " end; ";
    return switch (seen.state()) {
      case CONFIRM -> null;
      case NONE ->
          seen.confirmed()
              ? new Finding(
                  false, redis + " has lost its last replica" + alone + "start a replica again")
              : null;
      case SILENT ->
          new Finding(
              false,
              "no replica of "
                  + redis
                  + " confirmed a write within "
                  + patience.toMillis()
                  + " ms"
                  + alone
                  + "see state and lag of the replicas in INFO replication");
      case REFUSED ->
          new Finding(
              false,
              redis
                  + " refuses to wait for its replicas ("
                  + seen.refusal()
                  + ")"
                  + alone
                  + "allow INFO, SET and WAIT, or set "
                  + (changes ? "durability redis" : "")
                  + (changes && ends ? " and " : "")
                  + (ends ? "durability-of-ends false" : ""));
    };
  }
}
