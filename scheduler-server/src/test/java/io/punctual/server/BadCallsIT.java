package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.SpringBootTest;

/** Bad input at every door but the submit's: a clear error, and nothing changed. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=BadCallsIT"})
class BadCallsIT extends SharedRedisTestBase {

  @BeforeEach
  void submit() {
    for (String job :
        new String[] {
          "{'application':'shop','taskType':'a','taskId':'1','delay':'1d','tags':['t']}",
          "{'application':'default','taskType':'a','taskId':'1','delay':'1d'}",
          "{'application':'default','taskType':'b','taskId':'1','delay':'1d'}",
        }) {
      assertThat(api.post("/api/v1/jobs", job.replace('\'', '"')).status()).isIn(200, 201);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      POST | /claims | {} | 400 | invalid | application
      POST | /claims | {'application':'shop'} | 400 | invalid | taskTypes
      POST | /claims | {'application':'shop','taskTypes':'a'} | 400 | invalid | taskTypes
      POST | /claims | {'application':'shop','taskTypes':[]} | 400 | invalid | taskTypes
      POST | /claims | {'application':'shop','taskTypes':[1]} | 400 | invalid | taskTypes[0]
      POST | /claims | {'application':'shop','taskTypes':['a','b c']} | 400 | invalid | taskTypes[1]
      POST | /claims | {'application':'s/p','taskTypes':['a']} | 400 | invalid | application
      POST | /claims | {'application':'shop','taskTypes':['a'],'max':0} | 400 | invalid | max
      POST | /claims | {'application':'shop','taskTypes':['a'],'max':201} | 400 | invalid | max
      POST | /claims | {'application':'shop','taskTypes':['a'],'max':1.5} | 400 | invalid | max
      POST | /claims | {'application':'shop','taskTypes':['a'],'max':'1'} | 400 | invalid | max
      POST | /claims | {'application':'shop','taskTypes':['a'],'wait':'61s'} | 400 | invalid | wait
      POST | /claims | {'application':'shop','taskTypes':['a'],'wait':-1} | 400 | invalid | wait
      POST | /claims | {'application':'shop','taskTypes':['a'],'timeToRun':1} | 400 | invalid | timeToRun
      POST | /claims | {'application':'shop','taskTypes':['a'],'worker':'a b'} | 400 | invalid | worker
      POST | /claims | {'application':'shop','taskTypes':['a'],'x':1} | 400 | invalid | x
      POST | /jobs?onConflict=debounce&quiet=10s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | quiet
      POST | /jobs?onConflict=debounce&atMost=5s | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | quiet
      POST | /jobs?onConflict=debounce&quiet=5s | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | atMost
      POST | /jobs?onConflict=debounce&quiet=-1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | quiet
      POST | /jobs?onConflict=debounce&quiet=x&atMost=5s | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | quiet
      POST | /jobs?onConflict=debounce&quiet=5s&atMost=9999999d | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | atMost
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | delay
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1','delayTime':1} | 400 | invalid | delayTime
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1','dueAt':'2030-01-01T00:00:00Z'} | 400 | invalid | dueAt
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a'} | 400 | invalid | taskId
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s&keep=newest | {'application':'shop','taskType':'a','taskId':'1'} | 400 | invalid | keep
      POST | /jobs?onConflict=ignore | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | onConflict
      POST | /jobs?onConflict=replace&quiet=1s | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | quiet
      POST | /jobs?keep=last | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | keep
      POST | /jobs?whileRunning=QUEUE_ONE | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | whileRunning
      POST | /jobs?whileRunning=drop&onConflict=replace | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | whileRunning
      POST | /jobs?whileRunning=drop&whileRunning=drop | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | whileRunning
      POST | /jobs?whileRunning=drop | {'application':'shop','taskType':'a','taskId':'1','delay':'1s','cancelOn':[{'name':'a','key':'k'}]} | 400 | invalid | cancelOn
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1','runOn':[{'name':'a','key':'k'}]} | 400 | invalid | runOn
      POST | /jobs?whileRunning=drop | {'application':'shop','taskType':'a','taskId':'1','delay':'1s','expiresIn':'5s'} | 400 | invalid | expiresIn
      POST | /jobs?onConflict=debounce&quiet=1s&atMost=5s | {'application':'shop','taskType':'a','taskId':'1','within':'5s'} | 400 | invalid | within
      POST | /jobs?whilerunning=drop | {'application':'shop','taskType':'a','taskId':'1','delay':'1s'} | 400 | invalid | whilerunning
      POST | /jobs/batch?onConflict=debounce&quiet=2s&atMost=1s | {'jobs':[]} | 400 | invalid | quiet
      POST | /claims:check | {} | 400 | invalid | tokens
      POST | /claims:check | {'tokens':[]} | 400 | invalid | tokens
      POST | /claims:check | {'tokens':['x']} | 400 | invalid | token
      POST | /jobs:cancel?dryRun=true | {'application':'shop','tag':'x'} | 400 | invalid | dryRun
      POST | /jobs:purge?dryRun=true | {'application':'shop','taskType':'a','state':'dead'} | 400 | invalid | dryRun
      POST | /schedules/preview | {'every':'10s','jitter':'10s'} | 400 | invalid | jitter
      POST | /jobs | {'application':'shop','taskType':'a','taskId':'1','delay':'1s','calendar':'none-such'} | 400 | invalid | calendar
      POST | /events | {'key':'k','applications':['shop']} | 400 | invalid | name
      POST | /events | {'name':'a b','key':'k','applications':['shop']} | 400 | invalid | name
      POST | /events | {'name':'a','applications':['shop']} | 400 | invalid | key
      POST | /events | {'name':'a','key':'k,l','applications':['shop']} | 400 | invalid | key
      POST | /events | {'name':'a','key':'k'} | 400 | invalid | applications
      POST | /events | {'name':'a','key':'k','applications':['s/p']} | 400 | invalid | applications[0]
      DELETE | /jobs/shop/a/1?running=kill | | 400 | invalid | running
      PATCH | /jobs/shop/a/1 | {'cancelOn':[{'name':'a','key':'k'}]} | 400 | invalid | cancelOn
      POST | /claims/x/ack | | 400 | invalid | token
      POST | /claims/x/nack | {} | 400 | invalid | token
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/nack | {'delay':'x'} | 400 | invalid | delay
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/nack | {'delay':'31d'} | 400 | invalid | delay
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/nack | [] | 400 | invalid | body
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/nack | {} | 409 | lease-lost |
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/reject | {} | 409 | lease-lost |
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/release | | 409 | lease-lost |
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/extend | {} | 409 | lease-lost |
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/extend | {'timeToRun':'31d'} | 400 | invalid | timeToRun
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/ack | | 404 | not-found |
      POST | /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/eat | | 404 | not-found |
      GET  | /jobs | | 400 | invalid | application
      GET  | /jobs?application=shop | | 400 | invalid | tag
      GET  | /jobs?application=shop&taskType=a | | 400 | invalid | tag
      GET  | /jobs?application=shop&taskType=a&state=sleeping | | 400 | invalid | state
      GET  | /jobs?application=shop&taskType=a&state=dead&limit=0 | | 400 | invalid | limit
      GET  | /jobs?application=shop&taskType=a&state=dead&limit=501 | | 400 | invalid | limit
      GET  | /jobs?application=shop&taskType=a&state=dead&cursor=xx | | 400 | invalid | cursor
      GET  | /jobs?application=shop&taskType=a&state=dead&offset=1 | | 400 | invalid | offset
      GET  | /jobs?application=shop&taskType=a&state=dead&from=yesterday | | 400 | invalid | from
      GET  | /jobs?application=shop&taskType=a&state=dead&from=5&until=4 | | 400 | invalid | from
      GET  | /jobs?application=shop&tag=a%20b | | 400 | invalid | tag
      GET  | /jobs?application=s%2Fp&tag=a | | 400 | invalid | application
      POST | /jobs:cancel | {} | 400 | invalid | application
      POST | /jobs:cancel | {'application':'shop'} | 400 | invalid | tag
      POST | /jobs:cancel | {'application':'shop','tag':'t','dryRun':1} | 400 | invalid | dryRun
      POST | /jobs:cancel | {'application':'shop','tag':'t','limit':1001} | 400 | invalid | limit
      POST | /jobs:cancel | {'application':'shop','tag':'t','cursor':'x'} | 400 | invalid | cursor
      POST | /jobs:cancel | {'application':'shop','tag':'t','delay':1} | 400 | invalid | delay
      POST | /jobs:cancel | {'application':'shop','taskIds':['1']} | 400 | invalid | taskType
      POST | /jobs:cancel | {'application':'shop','taskType':'a','taskIds':[]} | 400 | invalid | taskIds
      POST | /jobs:cancel | {'application':'shop','taskType':'a','taskIds':['1',' ']} | 400 | invalid | taskIds[1]
      POST | /jobs:cancel | {'application':'shop','taskType':'a','taskIds':['1'],'tag':'t'} | 400 | invalid | tag
      POST | /jobs:reschedule | {'application':'shop','tag':'t'} | 400 | invalid | delayTime
      POST | /jobs:purge | {'application':'shop','taskType':'a'} | 400 | invalid | tag
      POST | /jobs:requeue | {'application':'shop','taskType':'a','state':'asleep'} | 400 | invalid | state
      POST | /jobs:requeue | {'application':'shop','tag':'t','operation':'o'} | 400 | invalid | operation
      POST | /jobs:cancel | {'application':'shop','tag':'t','operation':'o p'} | 400 | invalid | operation
      POST | /jobs:restore | {'application':'shop'} | 400 | invalid | operation
      POST | /jobs:restore | {'application':'shop','taskType':'a','state':'dead'} | 400 | invalid | operation
      POST | /jobs:restore | {'application':'shop','operation':'o','tag':'t'} | 400 | invalid | tag
      POST | /jobs:restore | {'application':'shop','operation':'o','cursor':'x'} | 400 | invalid | cursor
      POST | /jobs:restore | {'application':'shop','taskType':'a','taskIds':['1'],'operation':'o'} | 400 | invalid | operation
      POST | /jobs:eat | {} | 404 | not-found |
      POST | /queues/shop/none/pause | | 404 | not-found |
      POST | /queues/shop/none/pause | {'reason':'0123456789012345678901234567890123456789012345678901234567890'} | 400 | invalid | reason
      POST | /queues/shop/none/pause | {'reason':'a\\u202eb'} | 400 | invalid | reason
      POST | /queues/shop/none/pause | {'for':'999ms'} | 400 | invalid | for
      POST | /applications/shop/pause | {'for':'367d'} | 400 | invalid | for
      POST | /applications/shop/pause | {'until':'x'} | 400 | invalid | until
      POST | /applications/a%20b/resume | | 400 | invalid | application
      POST | /queues/shop/a%20b/resume | | 400 | invalid | taskType
      GET  | /forecast?taskType=a | | 400 | invalid | application
      GET  | /forecast?within=x | | 400 | invalid | within
      GET  | /forecast?within=1s&intervals=0 | | 400 | invalid | intervals
      GET  | /forecast?within=1s&intervals=201 | | 400 | invalid | intervals
      POST | /jobs | {'application':'shop','taskType':'a','delay':1,'tags':['a b']} | 400 | invalid | tags
      POST | /jobs | {'application':'shop','taskType':'a','delay':1,'tags':'t'} | 400 | invalid | tags
      POST | /jobs | {'application':'shop','taskType':'a','delay':1,'tags':['1','2','3','4','5','6','7','8','9']} | 400 | invalid | tags
      """)
  void aBadCallSaysWhatIsWrongAndChangesNothing(
      String method, String path, String body, int status, String code, String field) {
    Map<String, String> before = StoreDump.of(connections, prefix);

    Answer answer = call(method, "/api/v1" + path, body);

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.contentType()).isEqualTo("application/problem+json");
    assertThat(answer.at("/code")).isEqualTo(code);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field == null ? "" : field);
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
  }

  @Test
  void whatIsNoJsonOrNoListIsToldInPlainWords() {
    assertThat(call("POST", "/api/v1/jobs", "{'application':'shop',").at("/detail"))
        .startsWith("body is not valid JSON at line 1")
        .doesNotContain("Source", "REDACTED");
    String job = "{'application':'shop','taskType':'a','delay':0,'cancelOn':{'name':'a'}}";
    assertThat(call("POST", "/api/v1/jobs", job).at("/detail"))
        .isEqualTo("cancelOn must be a list, in square brackets");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      /jobs | {'application':'shop','taskType':'a','delay':-5} | delay must be between 0s and 2900000d, but was -5ms
      /jobs | {'application':'shop','taskType':'a','delay':'PT-0.005S'} | delay must be between 0s and 2900000d, but was -5ms
      /jobs | {'application':'shop','taskType':'a','delay':'2900001d'} | delay must be between 0s and 2900000d, but was 2900001d
      /jobs | {'application':'shop','taskType':'a','delay':'PT9000000000000000H'} | delay must be milliseconds
      /jobs | {'application':'shop','taskType':'a','delay':'PT2000000000000000H'} | delay must be between 0s and 2900000d, but was 9223372036854775807ms
      /jobs | {'application':'shop','taskType':'a','delay':0,'timeToRun':500} | timeToRun must be between 1s and 1d, but was 500ms
      /jobs | {'application':'shop','taskType':'a','delay':0,'timeToRun':'25h'} | timeToRun must be between 1s and 1d, but was 25h
      /claims | {'application':'shop','taskTypes':['a'],'wait':'61s'} | wait must be between 0s and 1m, but was 61s
      /claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/extend | {'timeToRun':'31d'} | timeToRun must be between 1s and 30d, but was 31d
      """)
  void aDurationThatIsOutOfRangeIsToldInTheFormInWhichOnesAreSent(
      String path, String body, String detail) {
    Answer answer = call("POST", "/api/v1" + path, body);

    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.at("/detail")).startsWith(detail);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      {} | 400 | command must be one of add, pop, finish, delete, restore, nack, release, touch, get
      {'command':'ADD'} | 400 | command must be one of
      {'command':7} | 400 | command must be a text
      {'command':'add'} | 400 | topic is missing
      {'command':'add','topic':'a'} | 400 | id is missing
      {'command':'add','topic':'a','id':'x'} | 400 | delay is missing
      {'command':'add','topic':'a','id':'x','delay':'5'} | 400 | delay must be a number of seconds
      {'command':'add','topic':'a','id':'x','delay':-1} | 400 | delay must be between 0 and
      {'command':'add','topic':'a','id':'x','delay':1e30} | 400 | delay must be between 0 and
      {'command':'add','topic':'a','id':'x','delay':1,'TTR':0} | 400 | TTR must be between 1 and 86400 seconds
      {'command':'add','topic':'a','id':'x','delay':1,'ttr':5} | 400 | ttr is not known here
      {'command':'add','topic':'a','id':'x','delay':1,'body':{}} | 400 | body must be a text in quotes
      {'command':'add','topic':'a','id':'x y','delay':1} | 400 | id must be 1 to 128 characters
      {'command':'add','topic':'a','id':'x','delay':1,'application':'a b'} | 400 | application must be
      {'command':'pop'} | 400 | give either topic, or topics
      {'command':'pop','topic':'a','topics':['b']} | 400 | give either topic, or topics
      {'command':'pop','topic':'a','timeout':61} | 400 | timeout must be between 0 and 60 seconds
      {'command':'pop','topic':'a','timeout':1e400} | 400 | timeout must be between 0 and 60 seconds
      {'command':'add','topic':'a','id':'x','delay':-1e400} | 400 | delay must be between 0 and
      {'command':'pop','topic':'a','count':201} | 400 | count must be a whole number between 1 and 200
      {'command':'pop','topic':'a','id':'1'} | 400 | id is not known here
      {'command':'finish'} | 400 | id is missing
      {'command':'finish','id':'none'} | 404 | no job none is known in default
      {'command':'finish','id':'1'} | 409 | one in each of these topics: a, b. Name the topic
      {'command':'finish','id':'1','topic':'a'} | 409 | no worker has begun it
      {'command':'finish','id':'1','topic':'c'} | 404 | no job 1 is known in default/c
      {'command':'finish','id':'1','token':'x'} | 400 | token is no token of a claim
      {'command':'finish','id':'2','token':'ZGVmYXVsdAphCjEKaW5jYXJuYXRpb24KdG9rZW4'} | 400 | token belongs to another job
      {'command':'finish','id':'1','token':'ZGVmYXVsdAphCjEKaW5jYXJuYXRpb24KdG9rZW4'} | 404 | no job 1 is known in default/a
      {'command':'delete','id':'1'} | 409 | Name the topic
      {'command':'nack','id':'1'} | 400 | token is missing
      {'command':'nack','id':'1','token':'ZGVmYXVsdAphCjEKaW5jYXJuYXRpb24KdG9rZW4'} | 409 | not yours any more
      {'command':'touch','id':'1','token':'ZGVmYXVsdAphCjEKaW5jYXJuYXRpb24KdG9rZW4'} | 409 | it is delayed; nothing was changed
      {'command':'touch','id':'1','token':'ZGVmYXVsdAphCjEKaW5jYXJuYXRpb24KdG9rZW4','TTR':86401} | 400 | TTR must be
      {'command':'get','id':'none'} | 404 | no job none is known
      {'command':'get','id':'1'} | 409 | Name the topic
      [] | 400 | body must be a JSON object
      {'command':'get','id':'1' | 400 | body is not valid JSON
      """)
  void aBadCommandIsAnsweredInItsOwnForm(String body, int status, String error) {
    Map<String, String> before = StoreDump.of(connections, prefix);

    Answer answer = call("POST", "/api/v1/command", body);

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.body().propertyNames()).containsExactly("success", "error", "id", "value");
    assertThat(answer.body().get("success").booleanValue()).isFalse();
    assertThat(answer.at("/error")).contains(error);
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("io.punctual.server.BadInputs#keys")
  void aBadIdempotencyKeyIsRefused(String key) {
    Map<String, String> before = StoreDump.of(connections, prefix);
    Answer answer =
        api.send(
            "/api/v1/jobs",
            request ->
                request
                    .header("Idempotency-Key", key)
                    .header("Content-Type", "application/json")
                    .POST(
                        BodyPublishers.ofString(
                            "{\"application\":\"shop\",\"taskType\":\"a\",\"delay\":1}")));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo("Idempotency-Key");
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
  }

  @Test
  void aCursorIsGoodForItsOwnFilterOnly() {
    for (int i = 0; i < 3; i++) {
      api.post(
          "/api/v1/jobs",
          "{\"application\":\"shop\",\"taskType\":\"many\",\"delay\":\"1d\",\"tags\":[\"u\"]}");
    }
    String list = "/api/v1/jobs?application=shop&taskType=many&state=delayed&limit=1";
    String cursor = api.get(list).at("/nextCursor");
    assertThat(cursor).isNotEmpty();
    assertThat(api.get(list + "&cursor=" + cursor).status()).isEqualTo(200);
    assertThat(api.get(list + "&until=9999999999999&cursor=" + cursor).at("/errors/0/field"))
        .isEqualTo("cursor");
    assertThat(api.get("/api/v1/jobs?application=shop&tag=u&cursor=" + cursor).status())
        .isEqualTo(400);
  }

  @Test
  void aListIsReadToItsEndByItsCursors() {
    for (int i = 0; i < 25; i++) {
      api.post(
          "/api/v1/jobs",
          "{\"application\":\"pages\",\"taskType\":\"t\",\"delay\":\"1d\",\"tags\":[\"p\"]}");
    }
    for (String query : new String[] {"&taskType=t&state=delayed", "&tag=p"}) {
      int seen = 0;
      String cursor = "";
      do {
        Answer page = api.get("/api/v1/jobs?application=pages&limit=7" + query + cursor);
        seen += page.body().get("items").size();
        String next = page.at("/nextCursor");
        cursor = next.isEmpty() ? "" : "&cursor=" + next;
      } while (!cursor.isEmpty());
      assertThat(seen).isEqualTo(25);
    }
  }

  private Answer call(String method, String path, String body) {
    if (body == null) {
      return api.send(path, request -> request.method(method, BodyPublishers.noBody()));
    }
    return api.call(
        method, path, "application/json", BodyPublishers.ofString(body.replace('\'', '"')));
  }
}
