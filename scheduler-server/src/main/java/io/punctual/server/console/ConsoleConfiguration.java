package io.punctual.server.console;

import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.CacheControl;
import org.springframework.web.servlet.FlashMap;
import org.springframework.web.servlet.FlashMapManager;
import org.springframework.web.servlet.LocaleResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.i18n.CookieLocaleResolver;
import org.springframework.web.servlet.i18n.LocaleChangeInterceptor;
import org.springframework.web.servlet.resource.VersionResourceResolver;
import org.springframework.web.servlet.support.SessionFlashMapManager;
import org.webjars.WebJarVersionLocator;

/** Serves what the pages need, all of it from here, and finds out in which language. */
@Configuration(proxyBeanMethods = false)
class ConsoleConfiguration implements WebMvcConfigurer {

  private static final List<Locale> LANGUAGES = List.of(Locale.ENGLISH, Locale.SIMPLIFIED_CHINESE);
  private static final String WEBJARS = "classpath:/META-INF/resources/webjars/";

  @Override
  public void addResourceHandlers(ResourceHandlerRegistry registry) {
    registry
        .addResourceHandler("/console/assets/**")
        .addResourceLocations(
            "classpath:/io/punctual/server/console/assets/",
            webjar("htmx.org", "dist/"),
            webjar("bootstrap-icons", ""))
        // Each link has a hash of what it links to.
        .setCacheControl(CacheControl.maxAge(Duration.ofDays(365)).immutable())
        .resourceChain(true)
        .addResolver(new VersionResourceResolver().addContentVersionStrategy("/**"));
  }

  private static String webjar(String name, String directory) {
    return WEBJARS + name + "/" + new WebJarVersionLocator().version(name) + "/" + directory;
  }

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    LocaleChangeInterceptor language =
        new LocaleChangeInterceptor() {
          @Override
          protected Locale parseLocaleValue(String tag) {
            return LANGUAGES.stream()
                .filter(known -> known.toLanguageTag().equals(tag))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("not one of ours"));
          }
        };
    language.setParamName("lang");
    language.setIgnoreInvalidLocale(true);
    registry.addInterceptor(language).addPathPatterns("/console", "/console/**");
  }

  /** Keeps what an act is answered with for the next page: its live part is asked for as well. */
  @Bean
  FlashMapManager flashMapManager() {
    return new SessionFlashMapManager() {
      @Override
      protected @Nullable List<FlashMap> retrieveFlashMaps(HttpServletRequest request) {
        return request.getHeader("HX-Request") == null ? super.retrieveFlashMaps(request) : null;
      }
    };
  }

  /** What the viewer chose, or else what the browser asks for and we have. */
  @Bean
  LocaleResolver localeResolver() {
    CookieLocaleResolver resolver = new CookieLocaleResolver("punctual-language");
    resolver.setCookieSameSite("Strict");
    resolver.setCookieHttpOnly(true);
    resolver.setCookiePath("/console");
    resolver.setCookieMaxAge(Duration.ofDays(365));
    resolver.setDefaultLocaleFunction(
        request -> {
          Locale asked = Locale.lookup(ranges(request.getHeader("Accept-Language")), LANGUAGES);
          return asked == null ? Locale.ENGLISH : asked;
        });
    return resolver;
  }

  private static List<Locale.LanguageRange> ranges(String header) {
    try {
      return header == null
          ? List.of()
          : Locale.LanguageRange.parse(header.replace("zh,", "zh-CN,"));
    } catch (IllegalArgumentException e) {
      return List.of();
    }
  }
}
