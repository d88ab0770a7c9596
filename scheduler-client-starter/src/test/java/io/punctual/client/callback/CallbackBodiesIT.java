package io.punctual.client.callback;

import org.springframework.boot.test.context.SpringBootTest;

/** Behind Tomcat. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    classes = CallbackBodiesContract.Shop.class,
    properties = {"spring.application.name=shop", "eureka.client.enabled=false"})
class CallbackBodiesIT extends CallbackBodiesContract {}
