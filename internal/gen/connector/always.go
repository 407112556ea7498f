package connector

// always are the settings that every such connector has.
var always = map[string]string{
	"connector.class": "io.debezium.connector.postgresql.PostgresConnector",
	"tasks.max":       "1",
	"plugin.name":     "pgoutput",

	// The table is empty whenever one looks: there is nothing to read but the log of transactions.
	"publication.autocreate.mode": "disabled",
	"snapshot.mode":               "no_data",
	"skipped.operations":          "u,d,t",
	"tombstones.on.delete":        "false",
	"slot.drop.on.stop":           "false",

	// The usual half a second is what an event would wait for others to come with.
	"poll.interval.ms": "20",

	// An idle table must not keep the log of the others.
	"heartbeat.interval.ms":       "10000",
	"heartbeat.action.query":      "SELECT pg_logical_emit_message(false, 'idem_outbox', '')",
	"message.prefix.exclude.list": "idem_outbox",

	// Bytes stay bytes: a record is the event, and nothing around it.
	"binary.handling.mode":                    "bytes",
	"key.converter":                           "org.apache.kafka.connect.storage.StringConverter",
	"header.converter":                        "org.apache.kafka.connect.storage.StringConverter",
	"value.converter":                         "io.debezium.converters.BinaryDataConverter",
	"extended.headers.enabled":                "false",
	"value.converter.delegate.converter.type": "org.apache.kafka.connect.json.JsonConverter",
	"value.converter.delegate.converter.type.schemas.enable": "false",

	"transforms":             "outbox",
	"transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter",
	"transforms.outbox.route.tombstone.on.empty.payload": "true",

	// Nothing is passed over, and the topics are made as the broker makes them.
	"errors.tolerance":                          "none",
	"topic.creation.default.partitions":         "-1",
	"topic.creation.default.replication.factor": "-1",
}
