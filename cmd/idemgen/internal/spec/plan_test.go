package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planned is the spec that changes are made in.
const planned = `version: 1
consumer: door-keeper
package: doors

types:
  State: {enum: [open, shut]}
  Ring: {fields: {id: string, note: optional string}}

tables:
  doors:
    primary_key: [door]
    columns: {door: text, state: varchar(10), at: timestamptz, n: integer}
  made: {primary_key: [key], columns: {key: text, door: text}}
  notes: {primary_key: [id], columns: {id: text, text: text, title: nullable text, lang: nullable text, at: timestamptz}}
  others: {external: true, primary_key: [id], columns: {id: text, t: nullable varchar(20)}}

topics:
  doors.v1:
    record_key: {door: string}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: request}, window: 8d}
    events:
      Moved:
        type: moved
        fields: {state: State, hand: optional string, ring: optional Ring, at: timestamp}
        write: [{update: doors, set: {state: state, at: at}, if_newer: at}]
        handle: true
      Counted:
        type: counted
        fields: {n: int32}
        write: [{update: doors, set: {n: n}}]
      Rung: {type: rung, effect: {if_interrupted: retry, timeout: 5s, result: Ring}}
      Opened: {type: opened, effect: {if_interrupted: retry}}
  keys:
    name: [keys.north.v1, keys.east.v1]
    idempotency_key: {source: {record: offset}}
    events:
      Made:
        fields: {key: string, door: string}
        write: [{insert: made}]
  notes:
    record_key: {id: string}
    assume: [ordered, unique]
    payload: {absent_marker: gone}
    idempotency_key: {source: {record: offset}}
    events:
      Noted:
        fields:
          id: string
          text: {type: string, path: text2}
          at: {type: timestamp, header: at}
          title: {type: string, patch: true, path: Title}
          lang: {type: optional string, path: Lang}
          memo: optional string
          blob: {type: bytes, record: key}
        write: [{upsert: notes, if_newer: at}]
        handle: true
`

// Each kind of change has its verdict, and with it the exit code.
func TestPlan(t *testing.T) {
	const (
		compatible = "compatible"
		callers    = "Go code must change"
		migration  = "migration appended"
		byHand     = "migration by hand"
		letters    = "records still in the topic become dead letters"
		dedup      = "breaks dedup"
		again      = "reprocesses every topic"
		loses      = "records still in the topic lose values"
		results    = "results of effects become dead letters"
		uncalled   = "events are applied without a call"
	)
	for _, tc := range []struct{ name, old, new, verdict, text string }{
		{"a description", "package: doors\n", "package: doors\ndescription: Doors.\n", compatible, "description is new"},
		{"a new optional field", "at: timestamp}", "at: timestamp, by: optional string}", compatible, "events.Moved.fields.by is new. Records without it can still be read. The content of event \"Moved\" of doors.v1 is defined differently: duplicates of events that were applied before are recognized, but their content is not compared.\n"},
		{"a new text of an enum", "[open, shut]", "[open, shut, ajar]", compatible, "types.State.enum changed"},
		{"a text of an enum is gone", "[open, shut]", "[open]", letters, `"shut" is no longer a value of "State"`},
		{"a new event", "  keys:", "      Lost: {type: lost, fields: {n: int32}, handle: true}\n  keys:", compatible, "topics.doors.v1.events.Lost is new"},
		{"a new topic", "  keys:", "  new.v1: {idempotency_key: {source: {header: k}, window: 1d}, events: {E: {handle: true}}}\n  keys:", compatible, "topics.new.v1 is new. It is read from start_from"},
		{"an ignored type", "    event_type:", "    ignore: [old]\n    event_type:", compatible, "topics.doors.v1.ignore is new"},
		{"a new type text", "type: counted", "type: [counted, tallied]", compatible, "topics.doors.v1.events.Counted.type changed"},
		{"a longer window", "window: 8d", "window: 9d", compatible, "window was `8d` and is `9d`. Keys are known for longer"},
		{"a shorter window", "window: 8d", "window: 7d", dedup, "- **breaks dedup**: the window of events \"Moved\", \"Counted\", \"Rung\", \"Opened\" is shorter: it was 8d and is 7d. Duplicates older than the new window count as new events"},
		{"limits", "package: doors\n", "package: doors\nlimits: {batch_events: 7}\n", compatible, "limits.batch_events is new"},
		{"smaller records", "package: doors\n", "package: doors\nlimits: {max_payload: 2KiB}\n", letters, "max_payload is now 2048; it was 1048576"},
		{"on_failure", "    record_key: {door: string}\n", "    record_key: {door: string}\n    on_failure: {stop_after: 7}\n", compatible, "on_failure is new"},
		{"an effect", "set: {n: n}}]", "set: {n: n}}]\n        effect: {if_interrupted: retry}", uncalled, "Counted.effect is new. The previous version applies events without the call, beside this one or after a rollback"},
		{"an effect goes", ", effect: {if_interrupted: retry}}", ", handle: true}", callers, "Events that this version applies have no call, even after a rollback"},
		{"an effect in place of a handler", "if_newer: at}]\n        handle: true\n      Counted", "if_newer: at}]\n        effect: {if_interrupted: retry}\n      Counted", uncalled, "Moved.effect is new"},
		{"another answer to a cut call", "{if_interrupted: retry, timeout", "{if_interrupted: dead_letter, timeout", compatible, "Versions that run side by side each follow their own"},
		{"a handler in place of steps", "write: [{update: doors, set: {n: n}}]", "handle: true", callers, "handle is new"},
		{"a shorter call", "timeout: 5s", "timeout: 4s", compatible, "it applies to calls from now on"},
		{"a result", "opened, effect: {if_interrupted: retry}", "opened, effect: {if_interrupted: retry, result: Ring}", results, `the result of event "Opened" of doors.v1: there was none, and "Ring" is now read. A recorded result whose event is not yet in the ledger cannot be read`},
		{"a result, and what the method returns", "opened, effect: {if_interrupted: retry}", "opened, effect: {if_interrupted: retry, result: Ring}", results, "deploy this when no event is waiting for its rows.\n- **" + callers + "**: topics.doors.v1.events.Opened.effect.result is new. The method returns a result.\n"},
		{"no result any more", ", result: Ring", "", results, `for the previous version, the result of event "Rung" of doors.v1: there was none, and "Ring" is now read. It cannot read what a call of this version returned`},
		{"no result any more, and what the method returns", ", result: Ring", "", results, "Recorded results are not read, and the rows of their events are written.\n"},
		{"a member of a result", "id: string, note", "id: string, at: timestamp, note", results, `the result of event "Rung" of doors.v1: field "at" is new and required. A recorded result whose event is not yet in the ledger cannot be read`},
		{"a member of a result is gone", "id: string, note", "note", results, `for the previous version, the result of event "Rung" of doors.v1: field "id" is new and required. It cannot read what a call of this version returned`},
		{"an optional member of a result", "id: string, note", "id: string, at: optional timestamp, note", compatible, "types.Ring"},
		{"a member of a result renamed", "note: optional string", "remark: optional string", results, `"note" of the same type is gone: if it is the same field, it was renamed. A recorded result`},
		{"an optional field renamed", "hand: optional string", "arm: optional string", loses, `event "Moved" of doors.v1: field "arm" is new, and "hand" of the same type is gone`},
		{"a member of a result renamed, of another type", "note: optional string", "seen: optional int32", results, `field "seen" is new, and "note" of a different type is gone`},
		{"an optional field renamed, of another type", "hand: optional string", "arm: optional int32", loses, `field "arm" is new, and "hand" of a different type is gone: its values in records are ignored`},
		{"an optional field renamed beside another new one", "hand: optional string", "arm: optional string, n: optional int32", loses, "fields.n is new. Records without it can still be read"},
		{"a record's own value goes, and an optional field comes", "blob: {type: bytes, record: key}", "mark: {type: optional string, header: mark}", compatible, "fields.mark is new. Records without it can still be read"},
		{"an optional field is gone", "hand: optional string, ", "", compatible, "fields.hand is gone"},
		{"a handler", "set: {n: n}}]", "set: {n: n}}]\n        handle: true", uncalled, "Counted.handle is new. The previous version applies events without the call, beside this one or after a rollback"},
		{"steps", "set: {n: n}}]", "set: {n: n}}, {update: doors, set: {n: n}}]", compatible, "Counted.write changed. It applies to events from now on; existing rows stay as they are. The previous version applies events by its own steps"},
		{"a new column", "n: integer}", "n: integer, m: nullable integer}", migration, `column "m" of "doors" is new`},
		{"a wider column", "varchar(10)", "text", byHand, "changed from varchar(10) to text"},
		{"a new unique key", "    primary_key: [door]\n", "    primary_key: [door]\n    unique: [[n]]\n", byHand, `unique key [n] of "doors" is new`},
		{"a new table", "  doors:\n    primary", "  rooms: {primary_key: [room], columns: {room: text}}\n  doors:\n    primary", migration, `table "rooms" is new`},
		{"a new required field", "at: timestamp}", "at: timestamp, by: string}", letters, `field "by" is new and required`},
		{"a field that may be absent now", "at: timestamp}", "at: timestamp, n: {type: int32, default: 1}}", compatible, "fields.n is new"},
		{"another path of a field", "fields: {n: int32}", "fields: {n: {type: int32, path: count}}", letters, `field "n" is now read at $.count; it was at $.n`},
		{"another type of a field", "fields: {n: int32}", "fields: {n: {type: int32, header: n}}", letters, `field "n" is now read at header n`},
		{"another source", "source: {header: request}", "source: {header: id}", dedup, `its source was [header "request"] and is [header "id"]`},
		{"an event renamed", "      Counted:", "      Tallied:", dedup, `the identity of event "Tallied" changed: its name was "Counted"`},
		{"an event renamed, with another field", "      Counted:\n        type: counted\n        fields: {n: int32}", "      Tallied:\n        type: counted\n        fields: {n: {type: int32, default: 1}}", dedup, `event "Tallied" changed: its name was "Counted"`},
		{"a type goes to another event", "      Counted:\n        type: counted", "      Tallied: {type: counted, fields: {n: int32}, handle: true}\n      Counted:\n        type: tallied", dedup, `event "Tallied" changed: records of its types were those of event "Counted", whose keys are other ones`},
		{"a topic renamed", "  doors.v1:", "  doors.v2:", dedup, `its topic was "doors.v1"`},
		{"the consumer renamed", "consumer: door-keeper", "consumer: doors", again, `the consumer was "door-keeper" and is "doors"`},
		{"an offset becomes a stored key", "source: {record: offset}", "source: key, window: 8d", compatible, "keys are stored from the first record that"},
		{"a stored key becomes an offset", "[ordered]\n    event_type: {header: type}\n    idempotency_key: {source: {header: request}, window: 8d}",
			"[ordered, unique]\n    event_type: {header: type}\n    idempotency_key: {source: {record: offset}}", dedup, "is {record: offset}"},
		{"what is compared", "window: 8d}", "window: 8d, compare: nothing}", compatible, "content is compared only for keys stored under the new definition"},
		{"more topics", "keys.east.v1]", "keys.east.v1, keys.south.v1]", compatible, "topics.keys now reads `keys.north.v1, keys.east.v1, keys.south.v1`; it read `keys.north.v1, keys.east.v1`. Topics that are new to it are read from start_from, and the others continue"},
		{"fewer topics", "[keys.north.v1, keys.east.v1]", "keys.east.v1", compatible, "Topics that are no longer among them are not read; their ledgers, keys and rows stay. To do: deploy this once they have been read to their ends"},
		{"an encoding", "    event_type: {header: type}", "    event_type: {header: type}\n    payload: {encoding: json_string}", letters, "payload.encoding is now json_string; it was plain"},
		{"the encoding that it had", "    event_type: {header: type}", "    event_type: {header: type}\n    payload: {encoding: plain}", compatible, "payload.encoding is new"},
		{"the encoding of record keys", "    record_key: {door: string}", "    record_key: {door: {type: string, path: $}}\n    record_key_format: {encoding: confluent_json}", letters, "record_key_format.encoding is now confluent_json; it was plain"},
		{"record keys in JSON", "    record_key: {door: string}", "    record_key: {door: {type: string, path: $}}", letters, "record_key is now read as JSON; it was read as text"},
		{"another path of a patch", "path: Title", "path: Heading", loses, `field "title" is now read at $.Heading; it was at $.Title`},
		{"another path of an optional field", "path: Lang", "path: Language", loses, `field "lang" is now read at $.Language; it was at $.Lang`},
		{"another marker", "absent_marker: gone", "absent_marker: none", loses, `payload.absent_marker is now "none"; it was "gone"`},
		{"a raw record key as text", "blob: {type: bytes, ", "blob: {type: string, ", letters, `field "blob" is now string; it was bytes`},
		{"another topic with offset keys", "keys.east.v1]", "keys.west.v1]", dedup, "another topic has other offsets"},
		{"a narrower column of a table of others", "varchar(20)", "varchar(10)", byHand, "tables.others.columns.t was"},
		{"a guard goes", ", if_newer: at}", "}", compatible, "Moved.write changed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			module(t, map[string]string{"old.yaml": planned, "new.yaml": strings.Replace(planned, tc.old, tc.new, 1)})
			if read(t, "new.yaml") == planned {
				t.Fatal("nothing changed")
			}
			code, out, stderr := run(t, "plan", "old.yaml", "new.yaml")
			want := done
			if tc.verdict == letters || tc.verdict == loses || tc.verdict == results || tc.verdict == uncalled || tc.verdict == dedup || tc.verdict == again {
				want = different
			}
			if code != want || !strings.Contains(strings.ToLower(out), strings.ToLower(tc.text)) || !strings.Contains(out, "- **"+tc.verdict+"**: ") {
				t.Errorf("exit code %d, want %d, %s and %q\n%s%s", code, want, tc.verdict, tc.text, out, stderr)
			}
			if n := strings.Count(out, "- **"); n > 1 && (tc.verdict == compatible && !strings.HasSuffix(tc.name, " comes") || strings.HasPrefix(tc.name, "an en")) {
				t.Errorf("%d lines for one change\n%s", n, out)
			}
		})
	}
}

// The earlier version is that of git, with its state.
func TestPlanComparesWithGit(t *testing.T) {
	module(t, map[string]string{"svc/idemgen.yaml": planned})
	mustGit(t, "init", "-q", "-b", "main")
	mustGit(t, "commit", "-q", "--allow-empty", "-m", "nothing")
	if code, out, stderr := run(t, "plan", "svc"); code != done || !strings.Contains(out, "**svc/idemgen.yaml** is not in HEAD") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "first")
	if code, out, stderr := run(t, "plan", "svc"); code != done || out != "**svc/idemgen.yaml**, compared with HEAD: no changes.\n" {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	edit(t, "svc/idemgen.yaml", "[open, shut]", "[shut]")
	want := `"open" is no longer a value of "State"`
	if code, out, stderr := run(t, "plan", "svc/idemgen.yaml"); code != different || !strings.Contains(out, want) {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	mustGit(t, "commit", "-q", "-a", "-m", "second")
	t.Chdir("svc")
	if code, out, stderr := run(t, "plan"); code != done {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := run(t, "plan", "--base", "HEAD~1", "--json"); code != different || !strings.Contains(out, `"verdict": "records still in the topic become dead letters"`) {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	refused(t, `git has no commit "nowhere"`, "plan", "--base", "nowhere")
	refused(t, "--base selects a version in git", "plan", "--base", "HEAD", "idemgen.yaml", "idemgen.yaml")
	write(t, "idemgen.yaml", strings.Replace(read(t, "idemgen.yaml"), "window: 8d", "window: 8", 1))
	refused(t, "E108", "plan")
}

// What plan compares with is read as a whole: a damaged state, or a file in the place of a folder,
// is an error, not a plan without changes.
func TestPlanNeedsWhatItCompares(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": planned})
	mustGit(t, "init", "-q", "-b", "main")
	write(t, "idem.state.yaml", "version: 1\n")
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "damaged")
	refused(t, "want known_identities", "plan")
	module(t, map[string]string{"old.yaml": planned, "new.yaml": planned})
	must(t, "plan", "old.yaml", "new.yaml")
	write(t, "migrations", "no folder")
	refused(t, "migrations", "plan", "old.yaml", "new.yaml")
	module(t, map[string]string{"idemgen.yaml": planned, "testdata/cases": "no folder"})
	refused(t, "testdata/cases", "check")
}

// Without git, or outside of a repository, the error says what to do.
func TestPlanWithoutGit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	module(t, map[string]string{"idemgen.yaml": planned})
	if _, err := os.Stat(".git"); err != nil {
		here, _ := os.Getwd()
		t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(here))
		refused(t, "is not in a git repository, so there is no earlier version; name two specs: idemgen plan old.yaml new.yaml", "plan")
	}
	t.Setenv("PATH", "")
	refused(t, "there is no git command", "plan")
}

// Another message of a topic is another form of its records; a change of its encoding, too. The
// fields that an event takes from a .proto file are those of the file's version.
func TestPlanOfMessages(t *testing.T) {
	const proto = "syntax = \"proto3\";\npackage a;\nmessage One { string id = 1; }\nmessage Two { string id = 1; }\n"
	was := `version: 1
consumer: c
package: p
topics:
  a.v1:
    payload: {encoding: protobuf, schema: a.proto#a.One}
    idempotency_key: {source: id, window: 8d}
    events:
      Seen: {handle: true}
`
	module(t, map[string]string{"a.proto": proto, "old.yaml": was, "two.yaml": strings.ReplaceAll(was, "a.One", "a.Two"), "framed.yaml": strings.ReplaceAll(was, "protobuf,", "confluent_protobuf,")})
	for file, want := range map[string]string{
		"two.yaml":    "payload.schema now names message a.Two; it named a.One",
		"framed.yaml": "payload.encoding is now confluent_protobuf; it was protobuf",
	} {
		if code, out, stderr := run(t, "plan", "old.yaml", file); code != different || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s%s", file, code, out, stderr)
		}
	}
	write(t, "idemgen.yaml", was)
	mustGit(t, "init", "-q", "-b", "main")
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "first")
	if code, out, stderr := run(t, "plan"); code != done || !strings.Contains(out, "no changes") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	edit(t, "a.proto", "One { string id = 1;", "One { string id = 3;")
	if code, out, stderr := run(t, "plan"); code != different || !strings.Contains(out, "field a.One.id is now string = 3; it was string = 1: older records are read as something else, or not at all") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	edit(t, "a.proto", "One { string id = 3;", "One { string id = 1;")
	edit(t, "a.proto", "string id = 1; }\nmessage Two", "string id = 1; string note = 2; }\nmessage Two")
	if code, out, stderr := run(t, "plan"); code == trouble || !strings.Contains(out, `"note"`) {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

// Values in Avro without a frame are read with the schema of the file alone: another layout is
// told, and another comment is not. With a frame both can be read.
func TestPlanOfAvro(t *testing.T) {
	const was = `{"type":"record","name":"A","fields":[{"name":"id","type":"string"},{"name":"n","type":"int"}]}`
	spec := `version: 1
consumer: c
package: p
topics:
  a.v1:
    payload: {encoding: avro, schema: was.avsc}
    idempotency_key: {source: id, window: 8d}
    events:
      Seen: {handle: true, fields: {id: string}}
`
	framed := strings.Replace(spec, "encoding: avro", "encoding: confluent_avro", 1)
	module(t, map[string]string{
		"was.avsc": was, "layout.avsc": strings.Replace(was, `"int"`, `"long"`, 1), "comment.avsc": strings.Replace(was, `"int"`, `"int","doc":"d"`, 1),
		"scale.avsc": strings.Replace(was, `"int"`, `{"type":"bytes","logicalType":"decimal","precision":9,"scale":3}`, 1),
		"two.avsc":   strings.Replace(was, `"int"`, `{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`, 1),
		"scale.yaml": strings.Replace(spec, "was.avsc", "scale.avsc", 1), "two.yaml": strings.Replace(spec, "was.avsc", "two.avsc", 1),
		"old.yaml": spec, "layout.yaml": strings.Replace(spec, "was.avsc", "layout.avsc", 1), "comment.yaml": strings.Replace(spec, "was.avsc", "comment.avsc", 1),
		"framed.yaml": framed, "framed_layout.yaml": strings.Replace(framed, "was.avsc", "layout.avsc", 1),
	})
	for _, tc := range []struct {
		old, new, want string
		code           int
	}{
		{"old", "layout", "the schema in layout.avsc has changed, and older records cannot be read with it", different},
		{"two", "scale", "the schema in scale.avsc has changed", different},
		{"old", "comment", "", done},
		{"framed", "framed_layout", "", done},
		{"old", "framed", "payload.encoding is now confluent_avro; it was avro", different},
	} {
		if code, out, stderr := run(t, "plan", tc.old+".yaml", tc.new+".yaml"); code != tc.code || !strings.Contains(out, tc.want) {
			t.Errorf("%s to %s: exit code %d, %s%s", tc.old, tc.new, code, out, stderr)
		}
	}
}
