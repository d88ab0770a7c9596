package io.punctual.systemtest.linearizability;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Would the check notice? Engines with one mistake in them have wrong histories. */
@Tag("full")
class BrokenVariantsIT {

  private static final int MOST_RUNS = 50;

  private static Stream<Arguments> variants() {
    return Stream.of(
        variant(
            EngineFault.NOTHING,
            new Variant(
                "an attempt is ended without its lease",
                "lua/settle.lua",
                "and job.lease and job.lease.token == token",
                "and job.lease")),
        variant(
            EngineFault.NOTHING,
            new Variant(
                "a submit does not look whether the job is done",
                "lua/submit.lua",
                "if tomb and (tomb.finished or string.find(id, '@', 1, true)) then",
                "if false then")),
        variant(
            EngineFault.REPLICA_TAKES_OVER_LATE,
            new Variant(
                "a replica need not confirm",
                "java/io/punctual/core/store/redis/script/Confirmation.java",
                "if (confirmed >= wanted)",
                "if (confirmed >= 0)")),
        variant(
            EngineFault.NOTHING,
            new Variant(
                "jobs are claimed early",
                "lua/claim.lua",
                "'ZRANGEBYSCORE', DELAYED, '-inf', now_text,",
                "'ZRANGEBYSCORE', DELAYED, '-inf', int(now + 50),")),
        variant(
            EngineFault.NOTHING,
            new Variant(
                "a late ack ends another incarnation",
                "lua/settle.lua",
                "if found ~= incarnation then",
                "if not found then")),
        variant(
            EngineFault.NOTHING,
            new Variant(
                "a lease ends early",
                "lua/expire.lua",
                "local ended = math.min(now, tonumber(ARGV[4]) or now)",
                "local ended = now + 400")),
        variant(
            EngineFault.NOTHING,
            new Variant(
                "a retry does not wait",
                "lua/settle.lua",
                "end_attempt(job, op, tonumber(delay), ",
                "end_attempt(job, op, 0, ")));
  }

  private static Arguments variant(EngineFault fault, Variant variant) {
    return Arguments.of(variant, fault);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("variants")
  void itIsFound(Variant variant, EngineFault fault, @TempDir Path directory) throws Exception {
    String durability = fault.needsReplica() ? "replicated:1" : "redis";
    Optional<String> violation = Optional.empty();
    for (int seed = 0; seed < MOST_RUNS && violation.isEmpty(); seed++) {
      violation = variant.violation(directory, seed, fault, durability);
    }
    assertThat(violation).isPresent();
    System.out.printf("linearizability: %s:%n%s%n", variant, violation.orElseThrow());
  }
}
