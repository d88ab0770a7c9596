package io.punctual.test.junit;

import io.punctual.test.spring.PunctualTestAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * A test with jobs. Its methods may ask for a {@link io.punctual.test.TestScheduler} as a
 * parameter.
 *
 * <ul>
 *   <li>Without Spring, each test method gets a new one; {@code @BeforeEach} methods get the same.
 *   <li>Beside {@code @SpringBootTest}, it is the application's. Such a test needs this annotation
 *       for the parameter only; it can have the scheduler injected as any other bean.
 *   <li>Beside a slice, such as {@code @WebMvcTest}, it adds the scheduler, and with it the {@link
 *       io.punctual.TaskSubmitService} and the clock, to what the slice has.
 * </ul>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(PunctualExtension.class)
@ImportAutoConfiguration(PunctualTestAutoConfiguration.class)
public @interface PunctualTest {}
