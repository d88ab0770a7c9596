package io.punctual.server.migrate;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.Tuple;

/**
 * The jobs that wait in another library's queue. They are taken out of it in batches, each in one
 * transaction, into a hash of ours in the same Redis. So either the old workers run a job or we
 * move it, never both; and a move that breaks off continues from the hash.
 */
final class OldQueue implements OldStore<OldQueue.Entry> {

  private static final int TRIES = 1_000;
  private static final int MOST_AT_ONCE = 500;
  private static final long LOCK_MS = 30_000;
  private static final long LOCK_AGAIN_MS = 500;
  private static final byte[] NOTHING = {};

  private final UnifiedJedis redis;
  private final byte[] sortedSet;
  private final byte[] list;
  private final byte[] taken;
  private final byte[] refused;
  private final String lock;
  private final OldLibrary library;
  private final String queue;
  private final PayloadFormat format;
  private final String name = UUID.randomUUID().toString();
  private int atOnce = MOST_AT_ONCE;
  private long heldAt;
  // How often in a row the queue had fewer jobs than asked for.
  private int ends;

  /**
   * @param redis is closed with this
   */
  OldQueue(UnifiedJedis redis, OldLibrary library, String queue, PayloadFormat format) {
    this.redis = redis;
    this.library = library;
    this.queue = queue;
    this.format = format;
    this.sortedSet = bytes(library.sortedSet(queue));
    String other = library.list(queue);
    this.list = other == null ? NOTHING : bytes(other);
    this.taken = bytes("punctual-import:" + library.sortedSet(queue));
    this.refused = bytes("punctual-import-refused:" + library.sortedSet(queue));
    this.lock = "punctual-import-lock:" + library.sortedSet(queue);
  }

  private static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * An entry with its score, as the hash has it: {@code SCORE ENTRY}.
   *
   * @param format the options of the run that took it; empty if it was not taken
   */
  record Entry(byte[] field, double score, byte[] value, byte[] format) {

    private static Entry of(double score, byte[] value) {
      byte[] head = bytes(score + " ");
      byte[] field = new byte[head.length + value.length];
      System.arraycopy(head, 0, field, 0, head.length);
      System.arraycopy(value, 0, field, head.length, value.length);
      return new Entry(field, score, value, NOTHING);
    }

    private static Entry read(byte[] field, byte[] format) {
      int gap = 0;
      while (field[gap] != ' ') {
        gap++;
      }
      byte[] value = new byte[field.length - gap - 1];
      System.arraycopy(field, gap + 1, value, 0, value.length);
      return new Entry(
          field,
          Double.parseDouble(new String(field, 0, gap, StandardCharsets.US_ASCII)),
          value,
          format);
    }
  }

  /**
   * Waits until no other command takes jobs out of this queue. One that was killed holds it for
   * half a minute more. Then puts back what that one has set aside.
   *
   * @throws IllegalStateException if another one goes on
   */
  @Override
  public void open() throws InterruptedException {
    for (long begin = System.nanoTime(); !isHeld("NX"); Thread.sleep(LOCK_AGAIN_MS)) {
      if (System.nanoTime() - begin > TimeUnit.MILLISECONDS.toNanos(2 * LOCK_MS)) {
        throw new IllegalStateException("Another import-jobs takes jobs out of this queue");
      }
    }
    putBack();
  }

  /**
   * Holds the queue for half a minute more.
   *
   * @throws IllegalStateException if another command has it
   */
  @Override
  public void hold() {
    if (!name.equals(redis.get(lock)) || !isHeld("XX")) {
      throw new IllegalStateException("This took too long, and another import-jobs goes on");
    }
    heldAt = System.nanoTime();
  }

  /** In the middle of work that may take longer than the lock. */
  private void holdOn() {
    if (System.nanoTime() - heldAt > TimeUnit.MILLISECONDS.toNanos(LOCK_MS / 6)) {
      hold();
    }
  }

  private boolean isHeld(String condition) {
    SetParams params = SetParams.setParams().px(LOCK_MS);
    return redis.set(lock, name, condition.equals("NX") ? params.nx() : params.xx()) != null;
  }

  /** Puts back what was refused, and lets other commands have the queue. */
  @Override
  public void close() {
    try (redis) {
      if (name.equals(redis.get(lock))) {
        putBack();
        if (name.equals(redis.get(lock))) {
          redis.del(lock);
        }
      }
    }
  }

  @Override
  public List<Entry> look(int seen, int max) {
    return entries(seen, max);
  }

  @Override
  public OldWork read(Entry entry) throws UnreadableException {
    return library.read(redis, queue, entry.score(), entry.value(), format).fitting();
  }

  @Override
  public List<Entry> taken() {
    return redis.hgetAll(taken).entrySet().stream()
        .map(one -> Entry.read(one.getKey(), one.getValue()))
        // If one was taken twice, refuse() keeps its latest time.
        .sorted(Comparator.comparingDouble(Entry::score))
        .toList();
  }

  /**
   * Takes jobs out of the old queue. Refused jobs leave it, too, and are set aside. The command
   * ends even if the old side keeps sending jobs.
   *
   * @return how many; 0 if none is left, or if the queue was empty twice in a row
   * @throws IllegalStateException if 1,000 transactions in a row fail, since the queue changes
   */
  @Override
  public int take(int max, Predicate<Entry> wanted) {
    int count = 0;
    int failed = 0;
    while (count < max && ends < 2) {
      holdOn();
      int most = Math.min(atOnce, max - count);
      int some = takeSome(most, wanted);
      if (some >= 0) {
        count += some;
        failed = 0;
        atOnce = Math.min(2 * atOnce, MOST_AT_ONCE);
        ends = some < most ? ends + 1 : 0;
        if (some < most) {
          return count;
        }
      } else {
        // A few are taken faster, so that a change less often comes between.
        atOnce = Math.max(1, atOnce / 2);
        if (++failed == TRIES) {
          throw new IllegalStateException(
              "The queue changes too often to take jobs out of it: stop the senders first");
        }
      }
    }
    return count;
  }

  /** Takes jobs in one transaction; returns how many, -1 if the queue changed meanwhile. */
  @SuppressWarnings("ArrayAsKeyOfSetOrMap") // Jedis wants a map, and only walks through it.
  private int takeSome(int max, Predicate<Entry> wanted) {
    try (AbstractTransaction transaction = redis.transaction(/* doMulti= */ false)) {
      if (list.length > 0) {
        transaction.watch(sortedSet, list);
      } else {
        transaction.watch(sortedSet);
      }
      List<byte[]> listed = list.length > 0 ? redis.lrange(list, 0, max - 1L) : new ArrayList<>();
      List<Entry> entries = listed.isEmpty() ? entries(0, max) : withScores(listed);
      if (entries.isEmpty() && listed.isEmpty()) {
        transaction.unwatch();
        return 0;
      }
      Map<byte[], byte[]> fields = new HashMap<>();
      Map<byte[], byte[]> unwanted = new HashMap<>();
      List<byte[]> aside =
          entries.isEmpty()
              ? List.of()
              : redis.hmget(refused, entries.stream().map(Entry::value).toArray(byte[][]::new));
      for (int entry = 0; entry < entries.size(); entry++) {
        Entry one = entries.get(entry);
        if (aside.get(entry) != null || !wanted.test(one)) {
          unwanted.put(one.value(), bytes(Double.toString(one.score())));
        } else {
          fields.put(one.field(), bytes(format.name()));
        }
      }
      transaction.multi();
      if (!listed.isEmpty()) {
        // From its head: to look for each of many entries would take Redis too long.
        transaction.ltrim(list, listed.size(), -1);
      }
      if (!fields.isEmpty()) {
        transaction.hset(taken, fields);
      }
      if (!unwanted.isEmpty()) {
        // They were added again meanwhile, and are put back at the end.
        transaction.hset(refused, unwanted);
      }
      if (!entries.isEmpty()) {
        transaction.zrem(sortedSet, entries.stream().map(Entry::value).toArray(byte[][]::new));
      }
      if (transaction.exec() == null) {
        return -1;
      }
      return listed.isEmpty() ? entries.size() : listed.size();
    }
  }

  private List<Entry> entries(int begin, int max) {
    List<Entry> entries = new ArrayList<>();
    for (Tuple tuple : redis.zrangeWithScores(sortedSet, begin, begin + max - 1L)) {
      entries.add(Entry.of(tuple.getScore(), tuple.getBinaryElement()));
    }
    return entries;
  }

  // One by one, since Redis has ZMSCORE only from 6.2 on.
  private List<Entry> withScores(List<byte[]> listed) {
    List<Response<Double>> scores = new ArrayList<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      listed.forEach(value -> scores.add(pipeline.zscore(sortedSet, value)));
    }
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < listed.size(); i++) {
      Double score = scores.get(i).get();
      // Else the old workers have it.
      if (score != null) {
        entries.add(Entry.of(score, listed.get(i)));
      }
    }
    return entries;
  }

  /** Forgets jobs that are in Punctual, with all that the old library has of them. */
  @Override
  public List<Entry> moved(List<Entry> entries, List<? extends OldWork> work) {
    Map<Entry, Response<Long>> deleted = new LinkedHashMap<>();
    try (AbstractTransaction transaction = redis.multi()) {
      transaction.hdel(taken, entries.stream().map(Entry::field).toArray(byte[][]::new));
      for (int i = 0; i < entries.size(); i++) {
        List<String> keys = work.get(i) instanceof OldJob job ? job.keys() : List.of();
        if (!keys.isEmpty()) {
          deleted.put(entries.get(i), transaction.del(keys.getFirst()));
          transaction.del(keys.toArray(String[]::new));
        }
      }
      var unused = transaction.exec();
    }
    return deleted.entrySet().stream()
        .filter(one -> one.getValue().get() == 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  @Override
  public Object key(Entry entry) {
    return ByteBuffer.wrap(entry.field());
  }

  @Override
  public boolean wasReadable(Entry entry) {
    // An older command noted no format.
    return entry.format().length > 0 && !Arrays.equals(entry.format(), bytes(format.name()));
  }

  /** Sets a job aside that Punctual does not take, until {@link #putBack}. */
  @Override
  @SuppressWarnings("ArrayAsKeyOfSetOrMap")
  public void refuse(Entry entry) {
    try (AbstractTransaction transaction = redis.multi()) {
      transaction.hset(refused, Map.of(entry.value(), bytes(Double.toString(entry.score()))));
      transaction.hdel(taken, entry.field());
      var unused = transaction.exec();
    }
  }

  /** Puts the jobs that were set aside where they were, unless they were added again. */
  private void putBack() {
    boolean first = true;
    for (Map.Entry<byte[], byte[]> one : redis.hgetAll(refused).entrySet()) {
      if (first) {
        hold();
        first = false;
      } else {
        holdOn();
      }
      putBack(
          one.getKey(), Double.parseDouble(new String(one.getValue(), StandardCharsets.US_ASCII)));
    }
  }

  private void putBack(byte[] value, double score) {
    for (int i = 0; i < TRIES; i++) {
      try (AbstractTransaction transaction = redis.transaction(/* doMulti= */ false)) {
        transaction.watch(sortedSet, refused);
        if (!redis.hexists(refused, value)) {
          // Another command has the queue now.
          transaction.unwatch();
          return;
        }
        boolean added = redis.zscore(sortedSet, value) != null;
        transaction.multi();
        if (!added) {
          transaction.zadd(sortedSet, score, value);
          if (list.length > 0) {
            transaction.rpush(list, value);
          }
        }
        transaction.hdel(refused, value);
        if (transaction.exec() != null) {
          return;
        }
      }
    }
    throw new IllegalStateException(
        "Refused jobs were not put back, since the queue changes too often. Stop its senders,"
            + " and run the command again");
  }
}
