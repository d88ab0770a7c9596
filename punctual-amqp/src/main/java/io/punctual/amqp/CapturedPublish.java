package io.punctual.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A channel that keeps what is published on it and needs no broker. So all that a template does to
 * a message (post-processors, converters, the user id, the headers of a trace) is done when the
 * message is sent, as for a message that does not wait.
 */
final class CapturedPublish implements InvocationHandler {

  private @Nullable DelayedMessage message;

  private CapturedPublish() {}

  /**
   * Returns the message that is published.
   *
   * @param publisher publishes one message on the channel that it is given
   */
  static DelayedMessage of(Consumer<Channel> publisher) {
    CapturedPublish captured = new CapturedPublish();
    publisher.accept(
        (Channel)
            Proxy.newProxyInstance(
                Channel.class.getClassLoader(), new Class<?>[] {Channel.class}, captured));
    DelayedMessage message = captured.message;
    if (message == null) {
      throw new IllegalStateException("The template published no message.");
    }
    return message;
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
    if (method.getName().equals("basicPublish") && arguments != null) {
      // In all its forms, properties and body come last.
      message =
          new DelayedMessage(
              (String) arguments[0],
              (String) arguments[1],
              (AMQP.BasicProperties) arguments[arguments.length - 2],
              (byte[]) arguments[arguments.length - 1]);
      return null;
    } else if (method.getName().equals("equals") && arguments != null) {
      return proxy == arguments[0];
    } else if (method.getName().equals("hashCode")) {
      return System.identityHashCode(proxy);
    } else if (method.getName().equals("toString")) {
      return "a channel that captures a delayed message";
    } else if (method.getName().equals("txCommit")) {
      // By a template whose channels are transacted: there is nothing to commit.
      return null;
    }
    throw new UnsupportedOperationException(method + " on a channel that captures a message");
  }
}
