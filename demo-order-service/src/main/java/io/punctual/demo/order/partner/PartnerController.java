package io.punctual.demo.order.partner;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Plays the partner, who in real life is another company, and fails when told. */
@RestController
@RequestMapping("/partner")
class PartnerController {

  private final PartnerBooks books;
  private final AtomicInteger calls = new AtomicInteger();

  PartnerController(PartnerBooks books) {
    this.books = books;
  }

  record Payment(String orderId, int cents) {}

  record Settings(PartnerMode mode) {

    Settings {
      Objects.requireNonNull(mode, "mode");
    }
  }

  @PostMapping("/payments")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void take(@RequestHeader("Idempotency-Key") String key, @RequestBody Payment payment) {
    if (payment.cents() < 1) {
      throw new ResponseStatusException(
          HttpStatus.UNPROCESSABLE_CONTENT, "a payment is of one cent or more");
    }
    PartnerMode mode = books.mode();
    boolean fails =
        mode == PartnerMode.DOWN || (mode == PartnerMode.FLAKY && calls.getAndIncrement() % 2 == 0);
    if (fails) {
      throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "the partner is " + mode);
    }
    books.take(key, payment.orderId(), payment.cents());
  }

  @PutMapping
  Settings set(@RequestBody Settings settings) {
    books.mode(settings.mode());
    return settings;
  }
}
