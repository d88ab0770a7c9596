/** The code of docs/rabbitmq.md. */
@org.jspecify.annotations.NullMarked
package io.punctual.amqp.docs;
