package io.punctual.test.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.redis.MutantStore;
import io.punctual.redis.RedisServer;
import io.punctual.test.store.RedisBucketReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Would the model test notice? Each mutant is a script with one small mistake; it must disagree
 * with the model. Every build tries a sample; {@code -Dpunctual.mutants.every=1} tries all of them.
 */
@Tag("full")
class MutationIT {

  private static final String PREFIX = "mutant";
  private static final Bucket BUCKET = new Bucket(new QueueName("model", "mutant"), 0);
  private static final int HISTORIES = 250;

  @Test
  void mistakesInTheScriptsAreFoundByTheModelTest() {
    int every = Integer.getInteger("punctual.mutants.every", 7);
    List<Mutant> all = Mutant.all();
    List<String> survivors = new ArrayList<>();
    int tried = 0;
    int broken = 0;
    try (Ground ground = new Ground()) {
      for (int i = 0; i < all.size(); i += every) {
        Mutant mutant = all.get(i);
        Optional<String> found = firstDisagreement(ground.walk(mutant));
        if (found.isEmpty()) {
          survivors.add(mutant.name());
        }
        if (found.isPresent() && found.get().contains("compiling script")) {
          broken++;
        } else {
          tried++;
        }
        ground.mend();
      }
    }
    System.out.printf(
        "Mutation test: %d of %d mutants tried, %d more did not compile, %d survived%n",
        tried, all.size(), broken, survivors.size());
    survivors.forEach(survivor -> System.out.println("  survived: " + survivor));
    assertThat(tried).isGreaterThan(10);
    assertThat(survivors).isSubsetOf(knownSurvivors());
  }

  /** Those of the full run; docs/testing.md says why each of them may. */
  private static Set<String> knownSurvivors() {
    try (InputStream known = MutationIT.class.getResourceAsStream("survivors.txt")) {
      return new String(Objects.requireNonNull(known).readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<String> firstDisagreement(Walk walk) {
    for (int seed = 0; seed < HISTORIES; seed++) {
      Optional<String> found = walk.disagreement(new HistoryGenerator(BUCKET, seed).history());
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /** A Redis that a mutant may stop for good, as one does whose loop never ends. */
  private static final class Ground implements AutoCloseable {

    private final RedisServer redis = RedisServer.startTemporary("--appendonly", "no");
    private Jedis jedis;
    private JedisConnectionFactory connections;

    Ground() {
      connect();
    }

    private void connect() {
      jedis = new Jedis("127.0.0.1", redis.port());
      connections =
          new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", redis.port()));
      connections.afterPropertiesSet();
      connections.start();
    }

    Walk walk(Mutant mutant) {
      JobStore store =
          MutantStore.of(
              connections,
              PREFIX,
              Walk.TOMBSTONES,
              file -> file.equals(mutant.file()) ? mutant.text() : MutantStore.shipped(file));
      return new Walk(store, new RedisBucketReader(jedis, PREFIX, BUCKET), BUCKET);
    }

    /** No command ends a script that has written: only another process does. */
    void mend() {
      try {
        jedis.ping();
      } catch (JedisException e) {
        disconnect();
        redis.kill();
        redis.start();
        connect();
      }
    }

    private void disconnect() {
      jedis.close();
      connections.destroy();
    }

    @Override
    public void close() {
      disconnect();
      redis.close();
    }
  }
}
