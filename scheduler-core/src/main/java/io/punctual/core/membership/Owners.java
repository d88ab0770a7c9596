package io.punctual.core.membership;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Members.Member;
import io.punctual.core.wake.Role;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Names the owner of each bucket by rendezvous hashing over the members that serve its queue. If a
 * member comes or goes, only the buckets that it has change their owner.
 *
 * <p>Ownership is a hint. If members disagree, a bucket has two owners, and claims are wasted; or
 * it has none, and its deputy looks.
 */
public final class Owners {

  private final String self;
  private volatile List<Member> others = List.of();
  private volatile boolean hears = true;

  /**
   * @param self the name of this member
   */
  public Owners(String self) {
    this.self = self;
  }

  /**
   * Takes over the other members.
   *
   * @param now in the order of their names
   * @return whether they are other ones than before
   */
  boolean update(List<Member> now) {
    if (now.equals(others)) {
      return false;
    }
    others = List.copyOf(now);
    return true;
  }

  /**
   * Notes whether hints from the store reach this engine. While they do not, it looks at all its
   * buckets as their owner does: nobody tells it of jobs, nor others of those that it was given.
   */
  public void hears(boolean now) {
    hears = now;
  }

  /** Returns whether hints from the store reach this engine. */
  public boolean hears() {
    return hears;
  }

  /** Returns the other members, in the order of their names. */
  public List<Member> others() {
    return others;
  }

  /** Returns how many members there are, with this one. */
  public int members() {
    return others.size() + 1;
  }

  /** Returns this engine's part in a bucket, as it changes with the members. */
  public Ownership of(Bucket bucket) {
    return new Ownership(bucket);
  }

  /** This engine's part in one bucket. */
  public final class Ownership {

    private final Bucket bucket;
    private final long hash;
    private List<Member> known = List.of();
    private Role role = Role.OWNER;
    private int serving = 1;

    private Ownership(Bucket bucket) {
      this.bucket = bucket;
      this.hash = hash(bucket.toString());
    }

    /** Returns the part that it has now. */
    public synchronized Role role() {
      update();
      return hears ? role : Role.OWNER;
    }

    /** Returns how many members serve the queue, with this one. */
    public synchronized int members() {
      update();
      return serving;
    }

    private void update() {
      List<Member> now = others;
      if (now != known) {
        known = now;
        List<Member> rivals = now.stream().filter(member -> member.serves(bucket.queue())).toList();
        serving = rivals.size() + 1;
        role = roleAmong(rivals);
      }
    }

    private Role roleAmong(List<Member> rivals) {
      long mine = weight(self);
      long before = rivals.stream().filter(rival -> weight(rival.name()) > mine).limit(2).count();
      return before == 0 ? Role.OWNER : before == 1 ? Role.DEPUTY : Role.OTHER;
    }

    private long weight(String member) {
      return mixed(hash(member) ^ mixed(hash));
    }
  }

  // The same in all versions of Java: FNV-1a.
  private static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }

  // The finalizer of SplitMix64: each bit of the result depends on each bit of the value.
  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
