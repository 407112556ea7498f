package syntax

import "testing"

// say reports required keys of a map that show no example.
func say[T any](t *testing.T, where string, ks keys[T]) {
	t.Helper()
	for _, k := range ks {
		switch {
		case k.read == nil && k.instead == "":
			t.Errorf("%s: nothing reads %s", where, k.name)
		case k.required && k.example == "":
			t.Errorf("%s: %s is required, and nothing shows how it is written", where, k.name)
		}
	}
}

// E105 never comes without a hint.
func TestRequiredKeysHaveAnExample(t *testing.T) {
	say(t, "the top", specKeys)
	say(t, "on_failure", failureKeys)
	say(t, "limits", limitKeys)
	say(t, "migrations", migrationKeys)
	say(t, "types", typeKeys)
	say(t, "fields", fieldKeys)
	say(t, "tables", tableKeys)
	say(t, "columns", columnKeys)
	say(t, "foreign_keys", foreignKeyKeys)
	say(t, "topics", topicKeys)
	say(t, "record_key", keyPartKeys)
	say(t, "event_type", discriminatorKeys)
	say(t, "events", eventKeys)
	say(t, "steps", allStepKeys)
	say(t, "idempotency_key", idempotencyKeys)
	say(t, "source", sourceKeys)
	say(t, "values", valueKeys)
	say(t, "payload", payloadKeys)
}
