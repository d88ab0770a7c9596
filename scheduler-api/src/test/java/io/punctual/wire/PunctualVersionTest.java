package io.punctual.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PunctualVersionTest {

  private static final String VERSION = "\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?";

  @TempDir Path directory;

  @Test
  void itIsThatOfThisBuild() {
    assertThat(PunctualVersion.text()).matches(VERSION);
  }

  @Test
  void inAnArchiveWithAllLibrariesItIsNotTheApplications() throws Exception {
    Path application = directory.resolve("application.jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, "app-7");
    try (OutputStream file = Files.newOutputStream(application);
        JarOutputStream jar = new JarOutputStream(file, manifest)) {
      for (String entry : List.of("PunctualVersion.class", "version")) {
        jar.putNextEntry(new ZipEntry("io/punctual/wire/" + entry));
        try (InputStream resource =
            Objects.requireNonNull(PunctualVersion.class.getResourceAsStream(entry), entry)) {
          resource.transferTo(jar);
        }
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(
            new URL[] {application.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
      Class<?> packed = loader.loadClass(PunctualVersion.class.getName());
      assertThat(packed.getPackage().getImplementationVersion()).isEqualTo("app-7");
      assertThat(packed.getMethod("text").invoke(null)).isEqualTo(PunctualVersion.text());
    }
  }
}
