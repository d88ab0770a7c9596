package io.punctual.spring.plugin;

/**
 * Who runs jobs here.
 *
 * @param application whose jobs these are
 * @param instance this start of it, shown with leases and errors
 */
record PluginIdentity(String application, String instance) {}
