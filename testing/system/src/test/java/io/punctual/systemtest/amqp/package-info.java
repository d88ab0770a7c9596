/** An application that sends delayed messages of RabbitMQ. */
@NullMarked
package io.punctual.systemtest.amqp;

import org.jspecify.annotations.NullMarked;
