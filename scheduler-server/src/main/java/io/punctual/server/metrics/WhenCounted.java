package io.punctual.server.metrics;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/** Not where {@code management.metrics.enable.punctual=false}: then nothing is done for metrics. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnProperty(name = "management.metrics.enable.punctual", matchIfMissing = true)
@interface WhenCounted {}
