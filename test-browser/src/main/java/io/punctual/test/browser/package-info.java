/**
 * A real Chromium for tests of pages: it clicks, types, and tells what the browser complains of.
 */
@NullMarked
package io.punctual.test.browser;

import org.jspecify.annotations.NullMarked;
