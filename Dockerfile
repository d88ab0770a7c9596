# One image for each program: MODULE is the module whose jar, built by `mvn package`, goes in.
FROM eclipse-temurin:25-jre
ARG MODULE
ARG VERSION=0.1.0-SNAPSHOT
RUN groupadd --gid 10001 punctual \
    && useradd --uid 10001 --gid punctual --no-create-home --home-dir /app --shell /usr/sbin/nologin punctual
WORKDIR /app
COPY ${MODULE}/target/lib /app/lib
COPY ${MODULE}/target/${MODULE}-${VERSION}.jar /app/app.jar
# Where credentials of applications are handed over, and where the demo has its database; see docker-compose.yml.
RUN mkdir /credentials /data && chown punctual:punctual /credentials /data
# A number, so that it can be seen from outside that it is not root.
USER 10001:10001
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=70", "-jar", "/app/app.jar"]
