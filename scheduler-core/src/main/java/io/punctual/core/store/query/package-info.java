/** What the store answers to questions about jobs and buckets. */
@NullMarked
package io.punctual.core.store.query;

import org.jspecify.annotations.NullMarked;
