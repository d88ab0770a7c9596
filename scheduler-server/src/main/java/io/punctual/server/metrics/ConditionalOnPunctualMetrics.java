package io.punctual.server.metrics;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/** Matches unless {@code management.metrics.enable.punctual=false}. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnProperty(name = "management.metrics.enable.punctual", matchIfMissing = true)
@interface ConditionalOnPunctualMetrics {}
