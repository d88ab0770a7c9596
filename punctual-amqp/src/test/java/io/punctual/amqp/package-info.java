/** Tests of delayed messages. */
@org.jspecify.annotations.NullMarked
package io.punctual.amqp;
