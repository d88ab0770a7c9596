/** What operators see and do: views, statistics, changes. */
@NullMarked
package io.punctual.core.admin;

import org.jspecify.annotations.NullMarked;
