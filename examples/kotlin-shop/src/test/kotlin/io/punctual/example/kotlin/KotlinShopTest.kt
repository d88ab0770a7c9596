package io.punctual.example.kotlin

import io.punctual.DelayedTask
import io.punctual.TaskHeader
import io.punctual.TaskSubmitService
import io.punctual.test.PunctualAssertions.assertThat
import io.punctual.test.TestScheduler
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.ExtendWith
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.boot.test.context.FilteredClassLoader
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.test.system.CapturedOutput
import org.springframework.boot.test.system.OutputCaptureExtension
import org.springframework.context.annotation.Import
import org.springframework.core.io.DefaultResourceLoader

@SpringBootTest
@Import(KotlinShopTest.Others::class)
@ExtendWith(OutputCaptureExtension::class)
class KotlinShopTest(
  @param:Autowired private val scheduler: TestScheduler,
  @param:Autowired private val orders: Orders,
  @param:Autowired private val tasks: TaskSubmitService,
  @param:Autowired private val others: Others,
) {

  /** Workers that do not end well. */
  class Others {
    val began = CountDownLatch(1)
    var cancelled = false

    @DelayedTask("fails")
    suspend fun fail() {
      delay(1)
      throw IllegalStateException("the partner is away")
    }

    @DelayedTask("waits")
    suspend fun await() {
      began.countDown()
      try {
        awaitCancellation()
      } catch (e: CancellationException) {
        cancelled = true
        throw e
      }
    }

    @DelayedTask("wants-header") fun wantHeader(@TaskHeader("channel") channel: String) = println(channel)

    @DelayedTask("has-default")
    suspend fun haveDefault(@TaskHeader("channel") channel: String = "shop") {
      delay(1)
      println("came by $channel")
    }

    @DelayedTask("takes-null")
    suspend fun takeNull(order: CloseOrder?) {
      delay(1)
      println("took $order")
    }
  }

  @Test
  fun anOrderThatNobodyPaysCloses(output: CapturedOutput) {
    orders.place("1001", 1800)
    assertThat(scheduler).of("order.close").hasOne().dueIn(Duration.ofMinutes(30))

    scheduler.advance(Duration.ofMinutes(30))

    assertThat(scheduler).of("order.close").job("1001").isDone()
    assertThat(output)
      .contains("told the partner: 1001 is closed: nobody paid", "closed 1001 of channel web in attempt 1")
  }

  @Test
  fun whatFailsBehindASuspensionFailsTheAttempt() {
    tasks.send("fails", null, Duration.ZERO)

    scheduler.runDue()

    assertThat(scheduler).of("fails").hasOne().isWaiting().wasAttempted(1).failedWith("the partner is away")
  }

  @Test
  fun aJobThatIsInterruptedCancelsItsCoroutine() {
    submit("waits", "1", null)
    val attempt = thread { scheduler.runDue() }
    others.began.await()

    tasks.cancel("waits", "1", TaskSubmitService.Running.INTERRUPT)
    attempt.join(20_000)

    assertThat(attempt.isAlive).isFalse()
    assertThat(others.cancelled).isTrue()
    assertThat(scheduler).of("waits").job("1").isCancelled()
  }

  @Test
  fun whatIsMissingForAParameterThatIsNeverNullIsSaidAtOnce() {
    submit("order.close", "without-id", """{"reason": "late"}""")
    submit("order.close", "null", "null")
    submit("wants-header", "1", null)

    scheduler.runDue()

    assertThat(scheduler).of("order.close").job("without-id").isDead().failedWith("orderId")
    assertThat(scheduler)
      .of("order.close")
      .job("null")
      .isDead()
      .failedWith("the params are null, and the parameter order may not be null")
    assertThat(scheduler)
      .of("wants-header")
      .job("1")
      .isDead()
      .failedWith("the job has no header channel, and the parameter channel may not be null")
  }

  @Test
  fun aParameterMayTakeNullOrHaveADefault(output: CapturedOutput) {
    submit("takes-null", "1", "null")
    submit("has-default", "1", null)

    scheduler.runDue()

    assertThat(scheduler).of("takes-null").job("1").isDone()
    assertThat(output).contains("took null", "came by shop")
  }

  class Returns {
    @DelayedTask("returns")
    suspend fun give(): String {
      delay(1)
      return "nobody reads this"
    }
  }

  class Promises {
    @DelayedTask("promises")
    suspend fun promise(): CompletableFuture<String> {
      delay(1)
      return CompletableFuture()
    }
  }

  @Test
  fun aResultThatNobodyReadsIsRefused() {
    assertThatThrownBy { started(Returns::class.java) }
      .rootCause()
      .hasMessageContaining("is on a method that returns a String")
    assertThatThrownBy { started(Promises::class.java) }
      .rootCause()
      .hasMessageContaining("is on a method that returns a CompletableFuture")
  }

  @Test
  fun withoutTheBridgeTheStartSaysWhatToAdd() {
    val none = FilteredClassLoader("kotlinx.coroutines.reactor")
    val thread = Thread.currentThread()
    val before = thread.contextClassLoader
    thread.contextClassLoader = none
    try {
      assertThatThrownBy { started(Others::class.java) }
        .rootCause()
        .hasMessageContaining("Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor")
    } finally {
      thread.contextClassLoader = before
    }
  }

  private fun submit(type: String, id: String, payload: String?) =
    tasks.job(type, payload).id(id).`in`(Duration.ZERO).send()

  private fun started(workers: Class<*>) =
    SpringApplicationBuilder(KotlinShop::class.java, workers)
      .resourceLoader(DefaultResourceLoader(Thread.currentThread().contextClassLoader))
      .run("--server.port=0")
      .close()
}
