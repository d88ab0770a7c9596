package io.punctual.server.web;

import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Names the store and the newest entry of its journal of losses in each answer about jobs, so that
 * applications notice a new entry at once.
 */
@Component
class StoreHeader extends OncePerRequestFilter {

  private static final String NAME = "Punctual-Store";

  private final ObjectProvider<Engine> engine;

  StoreHeader(ObjectProvider<Engine> engine) {
    this.engine = engine;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    return !ServedPath.of(request).startsWith("/api/v1/jobs");
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    LossJournal journal = engine.getObject().lossJournal();
    if (journal.store() != null) {
      response.setHeader(NAME, journal.store() + ";" + journal.newest());
    }
    chain.doFilter(request, response);
  }
}
