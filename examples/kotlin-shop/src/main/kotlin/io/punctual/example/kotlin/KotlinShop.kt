package io.punctual.example.kotlin

import io.punctual.DelayedTask
import io.punctual.TaskContext
import io.punctual.TaskHeader
import io.punctual.TaskSubmitService
import java.time.Duration
import kotlinx.coroutines.delay
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.stereotype.Service
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PutMapping
import org.springframework.web.bind.annotation.RestController

/** A shop that closes orders which nobody pays. */
@SpringBootApplication
class KotlinShop

fun main(args: Array<String>) {
  runApplication<KotlinShop>(*args)
}

/** The payload. A job without an order id, or with null, is rejected: it would never have one. */
data class CloseOrder(val orderId: String, val reason: String? = null)

@RestController
class Orders(private val tasks: TaskSubmitService, private val partner: Partner) {

  /** Takes an order, which closes unless it is paid within [seconds]. */
  @PutMapping("/orders/{id}/{seconds}")
  fun place(@PathVariable id: String, @PathVariable seconds: Long): String =
    tasks
      .job("order.close", CloseOrder(id, reason = "nobody paid"))
      .id(id)
      .`in`(Duration.ofSeconds(seconds))
      .header("channel", "web")
      .send()
      .outcome()
      .name

  /**
   * Runs when the time to pay is over. While it waits for the partner, it holds no thread; if the
   * attempt is cancelled, so is the coroutine.
   */
  @DelayedTask("order.close")
  suspend fun close(order: CloseOrder, @TaskHeader("channel") channel: String?, context: TaskContext) {
    partner.tell("${order.orderId} is closed: ${order.reason ?: "no reason"}")
    println("closed ${order.orderId} of channel $channel in attempt ${context.attempt()}")
  }
}

/** Somebody who answers slowly. */
@Service
class Partner {
  suspend fun tell(news: String) {
    delay(50)
    println("told the partner: $news")
  }
}
