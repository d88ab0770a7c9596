/** The HTTP edge: limits, access, strict JSON, and errors as problem documents. */
@NullMarked
package io.punctual.server.web;

import org.jspecify.annotations.NullMarked;
