package io.punctual.server.probe;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When workers are probed.
 *
 * @param probe whether instances are called, without a job, when they appear; when an operator
 *     asks, they are in any case
 */
@ConfigurationProperties("punctual.doctor")
public record ProbeProperties(@DefaultValue("true") boolean probe) {}
