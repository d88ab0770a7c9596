package io.punctual.core.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Persistence;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When Redis is asked whether a change is on its disk, by what is known of each node. */
class ConfirmationTest {

  private static final Durability SYNCED = Durability.parse("synced", Duration.ofSeconds(1));

  private final Inspector inspector = new Inspector();
  private final Confirmation confirmation =
      new Confirmation(
          SYNCED, inspector, new Replicas(new StoreOptions("p", Duration.ofMinutes(1), SYNCED)));

  private static StoreNode node(String address, String version, Persistence persistence) {
    return new StoreNode(
        address,
        version,
        "",
        "",
        0,
        false,
        persistence,
        "noeviction",
        null,
        null,
        /* answered= */ true);
  }

  /** Whether a change on the node is to be confirmed. */
  private boolean asks(String node) {
    confirmation.requireFit();
    return !confirmation.commands(node, "p:{shop:close:0}", commands -> List.of()).list().isEmpty();
  }

  @Test
  void aNodeThatSyncsEachWriteIsNotAskedAndAnyOtherIs() {
    inspector.nodes =
        List.of(
            node("a:1", "7.2.0", Persistence.SYNCED_LOG), node("b:1", "7.2.0", Persistence.LOG));

    assertThat(asks("a:1")).isFalse();
    assertThat(asks("b:1")).isTrue();
    assertThat(inspector.looks).isEqualTo(1);
  }

  @Test
  void aNodeThatDidNotAnswerIsAskedWhenItReturns() {
    StoreNode synced = node("a:1", "7.2.0", Persistence.SYNCED_LOG);
    inspector.nodes = List.of(synced.unanswered(), node("b:1", "7.2.0", Persistence.SYNCED_LOG));

    assertThat(asks("a:1")).isTrue();
    assertThat(asks("b:1")).isFalse();
  }

  @Test
  void aNodeThatCannotBeAskedIsReadAgainOnceItIsNotKnownToSync() {
    inspector.nodes = List.of(node("a:1", "6.2.0", Persistence.SYNCED_LOG));
    assertThat(asks("")).isFalse();
    assertThat(asks("")).isFalse();
    assertThat(inspector.looks).isEqualTo(1);

    inspector.current = false;

    assertThat(asks("")).isFalse();
    assertThat(inspector.looks).isEqualTo(2);
  }

  /** Has the nodes that the test sets, once they are read. */
  private static final class Inspector implements StoreInspector {

    private List<StoreNode> nodes = List.of();
    private boolean current;
    private int looks;

    @Override
    public List<StoreNode> nodes() {
      looks++;
      current = true;
      return nodes;
    }

    @Override
    public boolean synced(String node) {
      return current
          && StoreNode.named(node, nodes).stream()
              .allMatch(one -> one.answered() && one.persistence() == Persistence.SYNCED_LOG);
    }

    @Override
    public List<String> obstacles(List<StoreNode> all) {
      return all.stream()
          .filter(StoreNode::answered)
          .map(Confirmation::obstacleToSync)
          .filter(text -> !text.isEmpty())
          .toList();
    }

    @Override
    public Durability durability() {
      return SYNCED;
    }

    @Override
    public long now() {
      return 0;
    }

    @Override
    public boolean allReplicated(Duration within) {
      return false;
    }

    @Override
    public List<StoreNode.Finding> replicas() {
      return List.of();
    }

    @Override
    public List<StoreNode.Finding> failOver(Duration lease) {
      return List.of();
    }
  }
}
