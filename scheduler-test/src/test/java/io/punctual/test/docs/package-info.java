/** What docs/test-kit.md shows. */
@NullMarked
package io.punctual.test.docs;

import org.jspecify.annotations.NullMarked;
