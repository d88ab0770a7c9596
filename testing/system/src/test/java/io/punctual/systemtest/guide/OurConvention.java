package io.punctual.systemtest.guide;

import io.micrometer.common.KeyValues;
import io.punctual.spring.observation.DefaultJobInvokeObservationConvention;
import io.punctual.spring.observation.JobInvokeContext;
import org.springframework.stereotype.Component;

@Component
class OurConvention extends DefaultJobInvokeObservationConvention {

  @Override
  public KeyValues getLowCardinalityKeyValues(JobInvokeContext context) {
    return super.getLowCardinalityKeyValues(context).and("team", "checkout");
  }
}
