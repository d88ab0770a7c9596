package io.punctual.core.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Members.Member;
import io.punctual.core.wake.Role;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OwnersTest {

  private static final List<Bucket> BUCKETS =
      IntStream.range(0, 4_000)
          .mapToObj(i -> new Bucket(new QueueName("shop", "type" + i / 4), i % 4))
          .toList();

  private static Member member(String name) {
    return new Member(name, "1.2.3", null);
  }

  /** Each bucket's members in that role, as each member sees it alone. */
  private static Map<Bucket, List<String>> having(Role role, List<Member> members) {
    Map<Bucket, List<String>> found = new HashMap<>();
    for (Member self : members) {
      Owners owners = new Owners(self.name());
      owners.update(members.stream().filter(other -> !other.equals(self)).toList());
      for (Bucket bucket : BUCKETS) {
        if (self.serves(bucket.queue()) && owners.of(bucket).role() == role) {
          found.computeIfAbsent(bucket, any -> new ArrayList<>()).add(self.name());
        }
      }
    }
    return found;
  }

  private static List<Member> members(int count) {
    return IntStream.range(0, count).mapToObj(i -> member("scheduler-" + i + ":x")).toList();
  }

  @Test
  void oneAloneOwnsAll() {
    Owners owners = new Owners("me");
    assertThat(owners.members()).isEqualTo(1);
    assertThat(BUCKETS).allMatch(bucket -> owners.of(bucket).role() == Role.OWNER);
  }

  @Test
  void allAgreeOnOneOwnerAndOneDeputyOfEachBucketAndShareThemEvenly() {
    Map<Bucket, List<String>> owners = having(Role.OWNER, members(5));
    Map<Bucket, List<String>> deputies = having(Role.DEPUTY, members(5));
    for (Map<Bucket, List<String>> having : List.of(owners, deputies)) {
      assertThat(having.keySet()).containsExactlyInAnyOrderElementsOf(BUCKETS);
      assertThat(having.values()).allSatisfy(names -> assertThat(names).hasSize(1));
      for (Member member : members(5)) {
        assertThat(having.values().stream().filter(names -> names.contains(member.name())).count())
            .isBetween(700L, 900L);
      }
    }
    assertThat(BUCKETS).noneMatch(bucket -> owners.get(bucket).equals(deputies.get(bucket)));
  }

  @Test
  void theDeputyFollowsAnOwnerThatIsGoneAndNoOtherBucketMoves() {
    List<Member> all = members(5);
    Map<Bucket, List<String>> before = having(Role.OWNER, all);
    Map<Bucket, List<String>> deputies = having(Role.DEPUTY, all);
    Map<Bucket, List<String>> after = having(Role.OWNER, all.subList(1, 5));
    List<String> gone = List.of(all.get(0).name());
    for (Bucket bucket : BUCKETS) {
      assertThat(after.get(bucket))
          .isEqualTo(before.get(bucket).equals(gone) ? deputies.get(bucket) : before.get(bucket));
    }
  }

  @Test
  void onlyMembersThatServeAQueueOwnIt() {
    QueueName queue = BUCKETS.get(0).queue();
    List<Member> members =
        List.of(
            member("all"),
            new Member("one", "1.2.3", Set.of(queue)),
            new Member("none", "1.2.3", Set.of()));
    Map<Bucket, List<String>> owners = having(Role.OWNER, members);
    assertThat(owners.keySet()).containsExactlyInAnyOrderElementsOf(BUCKETS);
    owners.forEach(
        (bucket, names) -> {
          assertThat(names).hasSize(1).doesNotContain("none");
          if (!bucket.queue().equals(queue)) {
            assertThat(names).containsExactly("all");
          }
        });
    assertThat(owners.values()).contains(List.of("one"));
  }

  @Test
  void aPartChangesWithTheMembers() {
    Owners owners = new Owners("me");
    List<Owners.Ownership> parts = BUCKETS.stream().map(owners::of).toList();
    List<Member> others = Stream.of("a", "b").map(OwnersTest::member).toList();
    assertThat(owners.update(others)).isTrue();
    assertThat(owners.update(List.copyOf(others))).isFalse();
    assertThat(owners.members()).isEqualTo(3);
    assertThat(parts.stream().map(Owners.Ownership::role)).contains(Role.values());
    assertThat(owners.update(List.of())).isTrue();
    assertThat(parts).allMatch(part -> part.role() == Role.OWNER);
  }

  @Test
  void anEngineThatHearsNothingIsTheOwnerOfAllForItself() {
    Owners owners = new Owners("me");
    owners.update(Stream.of("a", "b").map(OwnersTest::member).toList());
    owners.hears(false);
    assertThat(BUCKETS).allMatch(bucket -> owners.of(bucket).role() == Role.OWNER);
    owners.hears(true);
    assertThat(BUCKETS).anyMatch(bucket -> owners.of(bucket).role() == Role.OTHER);
  }

  @Test
  void onlyMembersThatServeAQueueShareItsBuckets() {
    Owners owners = new Owners("me");
    QueueName queue = BUCKETS.get(0).queue();
    owners.update(
        List.of(new Member("a", "1.2.3", Set.of(queue)), new Member("b", "1.2.3", Set.of())));
    assertThat(owners.members()).isEqualTo(3);
    assertThat(owners.of(BUCKETS.get(0)).members()).isEqualTo(2);
    assertThat(owners.of(BUCKETS.get(BUCKETS.size() - 1)).members()).isEqualTo(1);
  }
}
