package io.punctual.benchmark.contender;

import io.punctual.benchmark.Figures;
import io.punctual.benchmark.contest.Contender;
import io.punctual.benchmark.contest.Contest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The process in which a contender works. */
public final class Contenders {

  private static final Logger log = LoggerFactory.getLogger(Contenders.class);

  private Contenders() {}

  /**
   * Runs parts on a contender.
   *
   * @param args the contender, what to call it behind a colon if not so, parts with commas, the
   *     file for figures, the numbers of the scale with commas, and the surroundings
   */
  public static void main(String[] args) {
    List<String> words = Arrays.asList(args);
    int[] scale = Arrays.stream(args[3].split(",", -1)).mapToInt(Integer::parseInt).toArray();
    Surroundings surroundings = Surroundings.of(words.subList(4, words.size()));
    int status = 1;
    try (Contender contender = contender(args[0].split(":", -1)[0], surroundings)) {
      Figures figures = new Figures(Path.of(args[2]));
      if (contender instanceof EmptyPosts limit && args[1].contains("A1")) {
        limit.flood(scale[1], scale[3], figures);
      }
      new Contest(
              args[0].substring(args[0].indexOf(':') + 1),
              contender,
              new Contest.Scale(
                  scale[0], scale[1], scale[2], scale[3], scale[4], scale[5], scale[6], scale[7],
                  scale[8]),
              figures)
          .run(List.of(args[1].split(",", -1)));
      status = 0;
    } catch (Exception e) {
      log.error("{} failed", args[0], e);
    }
    // Libraries leave threads behind that would keep this process alive.
    System.exit(status);
  }

  private static Contender contender(String name, Surroundings surroundings) {
    return switch (name) {
      case "punctual" -> new PunctualService(surroundings, false, 1);
      case "punctual-single" -> new PunctualService(surroundings, true, 1);
      case "punctual-plugin" -> new PunctualPlugin(surroundings);
      case "http" -> new EmptyPosts(surroundings);
      case "redisson" -> new RedissonDelayedQueue(surroundings);
      case "db-scheduler" -> new DbScheduler(surroundings);
      case "jobrunr" -> new JobRunrScheduler(surroundings);
      case "quartz" -> Quartz.onPostgres(surroundings);
      case "quartz-ram" -> Quartz.inMemory();
      case "rabbitmq" -> new RabbitMq(surroundings, true);
      case "rabbitmq-transient" -> new RabbitMq(surroundings, false);
      case "artemis" -> new Artemis(surroundings, true);
      case "artemis-transient" -> new Artemis(surroundings, false);
      case "beanstalkd" -> new Beanstalkd(surroundings);
      default -> throw new IllegalArgumentException("no such contender: " + name);
    };
  }
}
