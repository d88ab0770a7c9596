/** The test kit in JUnit tests, with and without Spring. */
@NullMarked
package io.punctual.test.junit;

import org.jspecify.annotations.NullMarked;
