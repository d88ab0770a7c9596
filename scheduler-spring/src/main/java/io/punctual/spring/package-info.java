/**
 * What both starters do with Spring, whoever keeps the jobs: payloads, workers, transactions. Knows
 * no web, no registry, no Redis and no Spring Boot.
 */
@NullMarked
package io.punctual.spring;

import org.jspecify.annotations.NullMarked;
