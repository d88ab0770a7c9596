# One image for each program: MODULE is the module whose jar, built by `mvn package`, goes in.

# Libraries, which seldom change, get a layer of their own: images share it with earlier ones.
FROM eclipse-temurin:25-jre AS parts
ARG MODULE
ARG VERSION=0.1.0-SNAPSHOT
COPY ${MODULE}/target/lib /parts/lib
RUN mkdir /parts/own && find /parts/lib -name "*-${VERSION}.jar" -exec mv {} /parts/own \;

FROM eclipse-temurin:25-jre
ARG MODULE
ARG VERSION=0.1.0-SNAPSHOT
# For the credentials of applications: see docker-compose.yml.
RUN groupadd --gid 10001 punctual \
    && useradd --uid 10001 --gid punctual --no-create-home --home-dir /app --shell /usr/sbin/nologin punctual \
    && mkdir /credentials && chown punctual:punctual /credentials
WORKDIR /app
COPY --from=parts /parts/lib /app/lib
COPY --from=parts /parts/own /app/lib
COPY ${MODULE}/target/${MODULE}-${VERSION}.jar /app/app.jar
# A number, so that the engine can check that it is not root.
USER 10001:10001
# The rest of a container's memory is for threads, buffers and code.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=60", "-XX:MaxDirectMemorySize=128m", "-jar", "/app/app.jar"]
