/** The test kit in Spring tests: it takes the starters' place by itself. */
@NullMarked
package io.punctual.test.spring;

import org.jspecify.annotations.NullMarked;
