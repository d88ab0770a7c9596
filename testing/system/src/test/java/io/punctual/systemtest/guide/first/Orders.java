package io.punctual.systemtest.guide.first;

import io.punctual.TaskSubmitService;
import java.time.Duration;
import org.springframework.stereotype.Service;

@Service
class Orders {
  private final TaskSubmitService tasks;

  Orders(TaskSubmitService tasks) {
    this.tasks = tasks;
  }

  void place(String id) {
    tasks.job("order.close", new FirstShop.CloseOrder(id)).id(id).in(Duration.ofMinutes(30)).send();
  }

  void pay(String id) {
    tasks.cancel("order.close", id);
  }
}
