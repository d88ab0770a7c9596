package io.punctual.server.doctor;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the doctor works.
 *
 * @param probe whether instances are called, without a job, when they appear; when somebody asks,
 *     they are in any case
 */
@ConfigurationProperties("punctual.doctor")
public record DoctorProperties(@DefaultValue("true") boolean probe) {}
