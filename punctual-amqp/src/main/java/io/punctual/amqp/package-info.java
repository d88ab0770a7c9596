/** Messages of RabbitMQ that wait in Punctual until they are due. */
@NullMarked
package io.punctual.amqp;

import org.jspecify.annotations.NullMarked;
