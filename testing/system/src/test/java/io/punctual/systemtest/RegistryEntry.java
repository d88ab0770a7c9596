package io.punctual.systemtest;

import java.util.Locale;

/** What a worker instance writes into Eureka, written by hand: true, or a lie. */
record RegistryEntry(
    String application,
    String virtualAddress,
    String id,
    String host,
    int port,
    String status,
    String taskType,
    String protocol) {

  /** One that says of itself what is usual. */
  static RegistryEntry of(String application, String id, String host, int port, String taskType) {
    return new RegistryEntry(application, application, id, host, port, "UP", taskType, "batch");
  }

  RegistryEntry calledBy(String address) {
    return new RegistryEntry(application, address, id, host, port, status, taskType, protocol);
  }

  RegistryEntry is(String state) {
    return new RegistryEntry(
        application, virtualAddress, id, host, port, state, taskType, protocol);
  }

  RegistryEntry speaks(String language) {
    return new RegistryEntry(
        application, virtualAddress, id, host, port, status, taskType, language);
  }

  /** Where it is to be POSTed. */
  String path() {
    return "/eureka/apps/" + application.toUpperCase(Locale.ROOT);
  }

  String json() {
    return """
    {"instance":{"instanceId":"%s","hostName":"%s","app":"%s","ipAddr":"%s",
    "vipAddress":"%s","secureVipAddress":"%s","status":"%s",
    "port":{"$":%d,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},
    "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
    "name":"MyOwn"},"leaseInfo":{"renewalIntervalInSecs":60,"durationInSecs":180},
    "metadata":{"punctual.task-types":"%s","punctual.protocol":"%s",
    "punctual.callback-path":"/punctual/callback","punctual.concurrency":"10"}}}"""
        .formatted(
            id,
            host,
            application.toUpperCase(Locale.ROOT),
            host,
            virtualAddress,
            virtualAddress,
            status,
            port,
            taskType,
            protocol);
  }
}
