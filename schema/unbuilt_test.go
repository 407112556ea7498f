package schema

import "testing"

// say collects the keys of a map that leave people alone: planned ones that say nothing of
// what to do until they are built, and required ones that show no example.
func say[T any](t *testing.T, where string, ks keys[T]) (planned int) {
	t.Helper()
	for _, k := range ks {
		switch {
		case k.read == nil && k.instead == "":
			if planned++; k.meanwhile == "" {
				t.Errorf("%s: %s is refused with E115 and no hint", where, k.name)
			}
		case k.required && k.example == "":
			t.Errorf("%s: %s is required, and nothing shows how it is written", where, k.name)
		}
	}
	return planned
}

// TestPlannedKeysSayWhatToDoToday: E115 and E105 never come without a hint.
func TestPlannedKeysSayWhatToDoToday(t *testing.T) {
	planned := say(t, "the top", specKeys) + say(t, "on_failure", failureKeys) + say(t, "limits", limitKeys) + say(t, "migrations", migrationKeys) +
		say(t, "types", typeKeys) + say(t, "fields", fieldKeys) + say(t, "tables", tableKeys) + say(t, "columns", columnKeys) +
		say(t, "foreign_keys", foreignKeyKeys) + say(t, "topics", topicKeys) + say(t, "record_key", keyPartKeys) + say(t, "assume", assumeKeys) +
		say(t, "event_type", discriminatorKeys) + say(t, "unhandled", unhandledKeys) + say(t, "events", eventKeys) + say(t, "steps", allStepKeys) +
		say(t, "outbox", outboxKeys) + say(t, "outbox events", outEventKeys) + say(t, "idempotency_key", idempotencyKeys) + say(t, "source", sourceKeys) + say(t, "values", valueKeys) + say(t, "payload", payloadKeys)
	if planned < 3 {
		t.Errorf("only %d planned keys", planned)
	}
}
