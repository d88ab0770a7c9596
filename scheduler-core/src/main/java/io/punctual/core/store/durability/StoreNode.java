package io.punctual.core.store.durability;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One Redis that holds jobs, as it is set up.
 *
 * @param address host and port as the connections name it, for people
 * @param version for instance 7.0.15
 * @param runId changes with each start of the process
 * @param replicationId changes when a replica is promoted
 * @param replicas connected ones
 * @param needsReplicas whether it refuses writes while too few replicas are connected
 * @param persistence what survives the end of the process
 * @param evictionPolicy Redis's {@code maxmemory-policy}; null if it may not be read
 * @param maxMemory bytes; 0 for no limit, null if it may not be read
 * @param usedMemory bytes; null if it may not be read
 * @param answered whether it answered when it was last asked; if not, the rest is as it was before
 */
public record StoreNode(
    String address,
    String version,
    String runId,
    String replicationId,
    int replicas,
    boolean needsReplicas,
    Persistence persistence,
    @Nullable String evictionPolicy,
    @Nullable Long maxMemory,
    @Nullable Long usedMemory,
    boolean answered) {

  /** From this share of its maxmemory on it needs a fix, in percent. */
  private static final int NEARLY_FULL_PERCENT = 90;

  private static final String NO_EVICTION = "noeviction";

  /** What survives the end of the process, weakest first. */
  public enum Persistence {
    /** It may not be read. */
    UNKNOWN,
    /** No append-only file; whether there are snapshots may not be read. */
    NO_LOG,
    /** Nothing. */
    NOTHING,
    /** The last snapshot. */
    SNAPSHOTS,
    /** All but what the system had not yet written to the disk: half a minute, in a power cut. */
    LAZY_LOG,
    /** The same, but about a second. Also a Redis that does not show its appendfsync. */
    LOG,
    /** All: each write is on the disk before it is answered. */
    SYNCED_LOG
  }

  /**
   * A setting or state of the node that needs a fix.
   *
   * @param unsafe whether jobs can be lost in the normal course of things, not just in a crash
   * @param text what is wrong, what it leads to, and how to fix it
   */
  public record Finding(boolean unsafe, String text) {}

  /** A node that never answered. */
  public static StoreNode unread(String address) {
    return new StoreNode(
        address, "unknown", "", "", 0, false, Persistence.UNKNOWN, null, null, null, false);
  }

  /** Returns this node as one that does not answer now. */
  public StoreNode unanswered() {
    return new StoreNode(
        address,
        version,
        runId,
        replicationId,
        replicas,
        needsReplicas,
        persistence,
        evictionPolicy,
        maxMemory,
        usedMemory,
        false);
  }

  /** Returns the node of that name, or all if none has it: one Redis alone has no name. */
  public static List<StoreNode> named(String name, List<StoreNode> nodes) {
    List<StoreNode> named = nodes.stream().filter(node -> node.address.equals(name)).toList();
    return named.isEmpty() ? nodes : named;
  }

  /** Returns what needs a fix; empty if nothing does. */
  public List<Finding> findings() {
    if (!answered) {
      return List.of(
          new Finding(
              false,
              says(
                  "does not answer this scheduler: jobs and changes in its slots wait; see whether"
                      + " it runs and can be reached")));
    }
    List<Finding> findings = new ArrayList<>();
    if (!atLeast(6, 2)) {
      findings.add(
          new Finding(true, says("is version " + version + "; Punctual needs Redis 6.2 or newer")));
    }
    if (evictionPolicy == null) {
      findings.add(
          new Finding(
              false,
              says(
                  "does not say how it is set up (INFO, CONFIG GET); make sure that"
                      + " maxmemory-policy is noeviction and that it keeps an append-only file")));
    } else if (!evictionPolicy.equals(NO_EVICTION)) {
      boolean bounded = maxMemory == null || maxMemory > 0;
      findings.add(
          new Finding(
              bounded,
              says(
                  "has maxmemory-policy "
                      + evictionPolicy
                      + (bounded
                          ? " and removes jobs when its memory is full;"
                          : ", which removes jobs once a maxmemory is set;")
                      + " set maxmemory-policy noeviction")));
    }
    if (memoryShare() * 100 >= NEARLY_FULL_PERCENT) {
      findings.add(
          new Finding(
              false,
              says(
                  "uses "
                      + NEARLY_FULL_PERCENT
                      + " % or more of its maxmemory: submits are refused when it is full; raise"
                      + " maxmemory, add nodes, or purge what is not needed")));
    }
    switch (persistence) {
      case NO_LOG ->
          findings.add(
              new Finding(
                  false,
                  says(
                      "keeps no append-only file, and does not let it be read (CONFIG GET) whether"
                          + " it keeps snapshots: jobs of the last minutes, or all of them, are"
                          + " gone when it crashes; set appendonly yes")));
      case NOTHING ->
          findings.add(
              new Finding(
                  false,
                  says(
                      "keeps nothing on disk: all jobs are gone when it ends; set appendonly"
                          + " yes")));
      case SNAPSHOTS ->
          findings.add(
              new Finding(
                  false,
                  says(
                      "keeps snapshots only: jobs of the last minutes are gone when it crashes;"
                          + " set appendonly yes")));
      case LAZY_LOG ->
          findings.add(
              new Finding(
                  false,
                  says(
                      "has appendfsync no: a power cut costs the changes of about half a minute;"
                          + " set appendfsync everysec")));
      case UNKNOWN, LOG, SYNCED_LOG -> {}
    }
    if (replicas > 1 && !needsReplicas) {
      findings.add(
          new Finding(
              false,
              says(
                  "has "
                      + replicas
                      + " replicas and no min-replicas-to-write: if it is cut off from them, it"
                      + " acknowledges changes that the fail-over forgets; set"
                      + " min-replicas-to-write 1 and min-replicas-max-lag 10")));
    }
    return findings;
  }

  /** Returns the used share of its maxmemory; NaN without a limit, or if it is not known. */
  public double memoryShare() {
    return answered && usedMemory != null && maxMemory != null && maxMemory > 0
        ? (double) usedMemory / maxMemory
        : Double.NaN;
  }

  /** Whether its version is this one or a later one. */
  public boolean atLeast(int major, int minor) {
    String[] parts = version.split("\\.", 3);
    try {
      int first = Integer.parseInt(parts[0]);
      int second = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
      return first > major || (first == major && second >= minor);
    } catch (NumberFormatException e) {
      return true;
    }
  }

  private String says(String what) {
    return "Redis at " + address + " " + what;
  }
}
