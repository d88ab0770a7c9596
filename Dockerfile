# One image for each program: MODULE is the module whose jar, built by `mvn package`, goes in.
FROM eclipse-temurin:25-jre
ARG MODULE
ARG VERSION=0.1.0-SNAPSHOT
RUN groupadd --system punctual && useradd --system --gid punctual --home-dir /app punctual
WORKDIR /app
COPY ${MODULE}/target/lib /app/lib
COPY ${MODULE}/target/${MODULE}-${VERSION}.jar /app/app.jar
USER punctual
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=70", "-jar", "/app/app.jar"]
