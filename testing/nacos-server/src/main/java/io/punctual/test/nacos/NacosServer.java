package io.punctual.test.nacos;

import com.alibaba.nacos.NacosServerBasicApplication;
import com.alibaba.nacos.core.listener.startup.NacosStartUp;
import com.alibaba.nacos.core.listener.startup.NacosStartUpManager;
import com.alibaba.nacos.sys.env.Constants;
import com.alibaba.nacos.sys.env.DeploymentType;
import com.alibaba.nacos.sys.env.EnvUtil;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/**
 * A standalone Nacos server that stores its data in the directory {@code nacos.home}. Only its core
 * is started, which clients call by gRPC: no HTTP, no console.
 */
public final class NacosServer {

  private NacosServer() {}

  /** Runs until it is killed. Clients use the port 1000 above {@code nacos.server.main.port}. */
  public static void main(String[] arguments) {
    System.setProperty(Constants.STANDALONE_MODE_PROPERTY_NAME, "true");
    EnvUtil.setDeploymentType(DeploymentType.SERVER);
    NacosStartUpManager.start(NacosStartUp.CORE_START_UP_PHASE);
    new SpringApplicationBuilder(NacosServerBasicApplication.class)
        .web(WebApplicationType.NONE)
        .run(arguments);
  }
}
