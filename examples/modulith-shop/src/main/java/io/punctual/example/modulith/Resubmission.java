package io.punctual.example.modulith;

import java.time.Duration;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Resubmits events whose job no scheduler has acknowledged. */
@Component
class Resubmission {

  private final IncompleteEventPublications publications;

  Resubmission(IncompleteEventPublications publications) {
    this.publications = publications;
  }

  @Scheduled(fixedDelay = 5_000)
  void resubmit() {
    publications.resubmitIncompletePublicationsOlderThan(Duration.ofSeconds(5));
  }
}
