package io.punctual.core.store.query;

import java.util.List;

/**
 * Short texts that show whether buckets have changed.
 *
 * @param now the store's time, epoch ms
 * @param of a text for each bucket, in their order; it differs whenever the bucket's {@link
 *     BucketStats} differ for another reason than time. Empty where the bucket cannot be read
 */
public record Stamps(long now, List<String> of) {}
