package io.punctual.demo.order;

import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The shop's rules.
 *
 * @param timeToPay how long an order may be paid that says nothing else
 * @param remindBefore how long before the end the customer is reminded; at most a third of the time
 *     to pay
 * @param partnerUrl who is told of payments
 */
@ConfigurationProperties("shop")
record ShopProperties(
    @DefaultValue("30m") Duration timeToPay,
    @DefaultValue("10m") Duration remindBefore,
    URI partnerUrl) {}
