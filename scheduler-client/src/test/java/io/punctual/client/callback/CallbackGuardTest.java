package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.punctual.wire.CallbackSignature;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallbackGuardTest {

  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
  private static final String SECONDS = Long.toString(NOW.getEpochSecond());
  private static final CallbackSignature.Key KEY =
      CallbackSignature.Key.derived("a master secret of the scheduler", "shop");
  private static final CallbackSignature.Key OTHERS =
      CallbackSignature.Key.derived("a master secret of the scheduler", "bank");
  private static final byte[] BODY = "{\"jobs\":[]}".getBytes(StandardCharsets.UTF_8);

  private Instant now = NOW;
  private final CallbackGuard guard = new CallbackGuard(List.of(KEY), false, () -> now);

  private @Nullable String refusal(FakeExchange request, byte[] body) {
    return refusal(guard, request, body);
  }

  private static @Nullable String refusal(CallbackGuard guard, FakeExchange request, byte[] body) {
    CallbackGuard.Refusal refusal = guard.refusal(request, body);
    return refusal == null ? null : refusal.text();
  }

  private static FakeExchange request(String id, String timestamp, String signatures) {
    FakeExchange request = new FakeExchange();
    request.addHeader("webhook-id", id);
    request.addHeader("webhook-timestamp", timestamp);
    request.addHeader("webhook-signature", signatures);
    return request;
  }

  private static FakeExchange signed(
      CallbackSignature.Key key, String id, String timestamp, byte[] body) {
    return request(id, timestamp, CallbackSignature.sign(List.of(key), id, timestamp, body));
  }

  @Test
  void whatIsSignedWithTheKeyIsLetInOnce() {
    assertThat(refusal(signed(KEY, "msg_1", SECONDS, BODY), BODY)).isNull();
    assertThat(refusal(signed(KEY, "msg_1", SECONDS, BODY), BODY)).contains("before");
    assertThat(refusal(signed(KEY, "msg_2", SECONDS, BODY), BODY)).isNull();
  }

  @Test
  void aReplayIsRefusedAsLongAsItsSignatureIsGood() {
    String early = Long.toString(NOW.getEpochSecond() + 299);
    assertThat(refusal(signed(KEY, "msg_1", early, BODY), BODY)).isNull();
    now = NOW.plusSeconds(598);
    assertThat(refusal(signed(KEY, "msg_2", "" + now.getEpochSecond(), BODY), BODY)).isNull();
    assertThat(refusal(signed(KEY, "msg_1", early, BODY), BODY)).contains("before");
    now = NOW.plusSeconds(600);
    assertThat(refusal(signed(KEY, "msg_1", early, BODY), BODY)).contains("apart");
  }

  @ParameterizedTest
  @CsvSource({"-60000, false", "-30001, false", "-30000, true", "0, true", "60000, true"})
  void aCallIsTakenUntilHalfAMinuteAfterItsEnd(long millis, boolean taken) {
    String id = "msg_0123456789abcdef_" + NOW.plusMillis(millis).toEpochMilli();
    CallbackGuard.Refusal refusal = guard.refusal(signed(KEY, id, SECONDS, BODY), BODY);
    if (taken) {
      assertThat(refusal).isNull();
    } else {
      assertThat(refusal).isNotNull();
      assertThat(refusal.why().word()).isEqualTo("late");
      assertThat(refusal.text()).contains("2026-11-21T11:59:", "2026-11-21T12:00:00Z");
    }
  }

  @Test
  void theEndOfACallCannotBeChanged() {
    String id = "msg_0123456789abcdef_" + NOW.minusSeconds(60).toEpochMilli();
    String later = "msg_0123456789abcdef_" + NOW.plusSeconds(60).toEpochMilli();
    String signature = CallbackSignature.sign(List.of(KEY), id, SECONDS, BODY);
    assertThat(refusal(request(later, SECONDS, signature), BODY)).contains("signature is wrong");
    assertThat(refusal(request("msg_0123456789abcdef", SECONDS, signature), BODY))
        .contains("signature is wrong");
  }

  @Test
  void anotherApplicationsKeyIsNoKey() {
    assertThat(refusal(signed(OTHERS, "msg_1", SECONDS, BODY), BODY))
        .contains("signature is wrong", "punctual.callback.secrets");
  }

  @Test
  void whatNoBodyCouldCureIsRefusedWithoutOne() {
    assertThat(guard.refusal(new FakeExchange())).isNotNull();
    String good = CallbackSignature.sign(List.of(KEY), "msg_1", SECONDS, BODY);
    String old = Long.toString(NOW.getEpochSecond() - 301);
    for (FakeExchange request :
        List.of(
            request("msg.1", SECONDS, good),
            request("msg_1", "now", good),
            request("msg_1", old, good),
            request("msg_1", SECONDS, good.substring(0, 40)),
            request("msg_1", SECONDS, good + "x"),
            request("msg_1", SECONDS, good.replace("v1", "v2")),
            request("msg_1", SECONDS, "v1,AAAA ".repeat(8) + good))) {
      assertThat(guard.refusal(request)).isNotNull();
    }
    // That it is wrong, only the body can tell.
    assertThat(guard.refusal(signed(OTHERS, "msg_1", SECONDS, BODY))).isNull();
    assertThat(guard.refusal(request("msg_1", SECONDS, "v1,AAAA " + good))).isNull();
    assertThat(refusal(signed(KEY, "msg_1", SECONDS, BODY), BODY)).isNull();
    assertThat(guard.refusal(signed(KEY, "msg_1", SECONDS, BODY))).isNotNull();
  }

  @Test
  void aSignatureThatAgedWhileItsBodyCameIsTooOld() {
    FakeExchange request = signed(KEY, "msg_1", SECONDS, BODY);
    assertThat(guard.refusal(request)).isNull();
    now = NOW.plusSeconds(301);
    assertThat(refusal(request, BODY)).contains("apart");
  }

  @Test
  void everyByteCounts() {
    for (int i = 0; i < BODY.length; i++) {
      byte[] altered = BODY.clone();
      altered[i] ^= 1;
      assertThat(refusal(signed(KEY, "msg_1", SECONDS, BODY), altered)).contains("wrong");
    }
    // Different bytes that are both no UTF-8 would be the same text.
    byte[] one = {(byte) 0xc3, 0x28};
    byte[] two = {(byte) 0xff, 0x28};
    assertThat(refusal(signed(KEY, "msg_1", SECONDS, one), two)).contains("wrong");
    assertThat(refusal(signed(KEY, "msg_1", SECONDS, one), one)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"-301, false", "-300, true", "0, true", "300, true", "301, false"})
  void aSignatureIsGoodForFiveMinutes(long offset, boolean good) {
    String timestamp = Long.toString(NOW.getEpochSecond() + offset);
    String refusal = refusal(signed(KEY, "msg_1", timestamp, BODY), BODY);
    assertThat(refusal == null).isEqualTo(good);
  }

  @ParameterizedTest
  @ValueSource(strings = {"webhook-id", "webhook-timestamp", "webhook-signature"})
  void aHeaderThatIsMissingIsNoSignature(String header) {
    FakeExchange request = signed(KEY, "msg_1", SECONDS, BODY);
    request.removeHeader(header);
    assertThat(refusal(request, BODY)).contains("not signed");
  }

  @ParameterizedTest
  @CsvSource({
    "msg.1, 1795262400",
    "msg_1, 1795262400.5",
    "'', 1795262400",
    "msg_1, ''",
    "msg_1, -1"
  })
  void whatCouldBeReadInTwoWaysIsRefused(String id, String timestamp) {
    assertThat(refusal(signed(KEY, id, timestamp, BODY), BODY)).isNotNull();
    // The boundary moved: the same signed bytes, read differently.
    byte[] moved =
        ("1." + new String(BODY, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
    assertThat(
            refusal(
                request(
                    "msg_1." + SECONDS,
                    "1",
                    CallbackSignature.sign(List.of(KEY), "msg_1", SECONDS, moved)),
                BODY))
        .isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "v1", "v1,", "v2,abc", "v1a,abc", "nonsense"})
  void nonsenseIsNoSignature(String signature) {
    assertThat(refusal(request("msg_1", SECONDS, signature), BODY)).isNotNull();
  }

  @Test
  void keysAreChangedWithoutAGap() {
    CallbackSignature.Key next =
        CallbackSignature.Key.derived("the next master secret of the scheduler", "shop");
    CallbackGuard both = new CallbackGuard(List.of(next, KEY), false, () -> now);
    assertThat(refusal(both, signed(KEY, "msg_1", SECONDS, BODY), BODY)).isNull();
    assertThat(refusal(both, signed(next, "msg_2", SECONDS, BODY), BODY)).isNull();
    // A scheduler with both signs with both; whoever knows one of them is content.
    String twice = CallbackSignature.sign(List.of(next, KEY), "msg_3", SECONDS, BODY);
    assertThat(refusal(request("msg_3", SECONDS, twice), BODY)).isNull();
    assertThat(refusal(request("msg_4", SECONDS, "v1,AAAA " + twice), BODY)).contains("wrong");
  }

  @Test
  void theAnswerIsSignedWithEveryKeyThatTheSchedulerMayHave() {
    CallbackSignature.Key next =
        CallbackSignature.Key.derived("the next master secret of the scheduler", "shop");
    CallbackGuard both = new CallbackGuard(List.of(next, KEY), false, () -> now);
    FakeExchange request = signed(KEY, "msg_1", SECONDS, BODY);
    assertThat(refusal(both, request, BODY)).isNull();
    CallbackGuard.AnswerSeal seal = Objects.requireNonNull(both.seal(request));
    for (int frame = 0; frame < 2; frame++) {
      String signature = Objects.requireNonNull(CallbackSignature.ofLine(seal.line("{}\n")));
      for (CallbackSignature.Key key : List.of(KEY, next)) {
        assertThat(
                CallbackSignature.verify(
                    List.of(key),
                    signature,
                    "msg_1_answer",
                    SECONDS,
                    (frame + "\n{}\n").getBytes(StandardCharsets.UTF_8)))
            .isTrue();
      }
    }
  }

  @Test
  void aLibraryForStandardWebhooksMakesAndReadsTheSame() throws Exception {
    Webhook library = new Webhook(KEY.reveal());
    String body = "{\"n\":\"\u00e4\"}";
    String signature = library.sign("msg_1", NOW.getEpochSecond(), body);
    assertThat(refusal(request("msg_1", SECONDS, signature), body.getBytes(StandardCharsets.UTF_8)))
        .isNull();
    assertThat(
            CallbackSignature.sign(
                List.of(KEY), "msg_1", SECONDS, body.getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(signature);
  }

  private static FakeExchange unsigned() {
    FakeExchange request = new FakeExchange();
    request.addHeader("Content-Type", "application/json");
    return request;
  }

  @ParameterizedTest
  @CsvSource({
    "Origin, http://evil.example",
    "Origin, null",
    "Sec-Fetch-Site, cross-site",
    "Sec-Fetch-Site, same-origin",
    "Content-Type, text/plain",
    "Content-Type, application/x-www-form-urlencoded",
    "Content-Type, nonsense",
    "Content-Type, ''",
  })
  void aWebPageIsNotLetInUnsigned(String header, String value) {
    CallbackGuard open = new CallbackGuard(List.of(), true, () -> now);
    FakeExchange page = unsigned();
    page.removeHeader(header);
    page.addHeader(header, value);

    assertThat(refusal(open, page, BODY)).contains("web pages may not run jobs");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, true",
    "127.0.0.1, true",
    "[::1], true",
    "rebind.evil.example, false",
    "127.0.0.1.evil.example, false"
  })
  void anUnsignedCallNamesThisMachine(String host, boolean letIn) {
    CallbackGuard open = new CallbackGuard(List.of(), true, () -> now);
    FakeExchange request = unsigned();
    request.setServerName(host);

    String refusal = refusal(open, request, BODY);

    assertThat(refusal == null).isEqualTo(letIn);
  }

  @Test
  void withoutKeysNobodyIsLetInUnlessThatIsWanted() {
    CallbackGuard closed = new CallbackGuard(List.of(), false, () -> now);
    assertThat(refusal(closed, new FakeExchange(), BODY))
        .contains("punctual.callback.secrets is not set");
    CallbackGuard open = new CallbackGuard(List.of(), true, () -> now);
    assertThat(refusal(open, unsigned(), BODY)).isNull();
    FakeExchange remote = unsigned();
    remote.setRemoteAddr("10.1.2.3");
    assertThat(refusal(open, remote, BODY)).contains("same machine only");
    for (Map.Entry<String, String> proxy :
        Map.of(
                "X-Forwarded-For",
                "1.2.3.4",
                "X-Forwarded-Host",
                "127.0.0.1",
                "X-Forwarded-Proto",
                "http",
                "Forwarded",
                "for=1.2.3.4",
                "Via",
                "1.1 p")
            .entrySet()) {
      FakeExchange forwarded = unsigned();
      forwarded.addHeader(proxy.getKey(), proxy.getValue());
      assertThat(refusal(open, forwarded, BODY)).contains("same machine only");
    }
    // With keys, unsigned calls are refused in any case.
    CallbackGuard both = new CallbackGuard(List.of(KEY), true, () -> now);
    assertThat(refusal(both, new FakeExchange(), BODY)).contains("not signed");
  }
}
