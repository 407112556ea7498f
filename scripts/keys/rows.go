package main

import (
	"regexp"
	"slices"
	"strings"
)

// owner is what has keys, and where docs/spec.md speaks of them.
type owner struct {
	name    string
	heading string
	also    string // what the row says behind the key, where a table has the keys of several owners
}

// owners are by the place in the JSON Schema.
var owners = map[string]owner{
	"":                        {"the spec", "Keys at the top", ""},
	".migrations":             {"migrations", "Keys at the top", "(of migrations)"},
	"type":                    {"a type", "Types", ""},
	"field":                   {"a field", "Fields", ""},
	"table":                   {"a table", "Tables", ""},
	"table.foreign_keys.*":    {"a foreign key", "Tables", "(of a foreign key)"},
	"column":                  {"a column", "Tables", "(of a column)"},
	"topic":                   {"a topic", "Topics", ""},
	"topic.record_key.*":      {"a record-key part", "Topics", "(of a part)"},
	"eventType":               {"event_type", "Topics", "(of event_type)"},
	"topic.payload":           {"payload", "payload", ""},
	"topic.record_key_format": {"record_key_format", "Record keys", ""},
	"idempotency_key":         {"idempotency_key", "idempotency_key", ""},
	"idempotency_key.source":  {"source", "idempotency_key", "(in source)"},
	"event":                   {"an event", "Events", ""},
	"event.effect":            {"effect", "Effects", ""},
	"step":                    {"a step", "Steps", ""},
	"assigns.*":               {"a step's value", "Steps", "value"},
	"on_failure":              {"on_failure", "Limits and failures", ""},
	"limits":                  {"limits", "Limits and failures", ""},
}

// row is a row of a table of docs/spec.md that describes keys.
type row struct {
	heading                                 string
	key                                     string   // the first cell
	names                                   []string // in it
	value, standard, meaning, refused, with string
}

var (
	quoted   = regexp.MustCompile("`([a-z_]+)`")
	keyTable = regexp.MustCompile(`^(key|key of .*|value)$`)
)

// readRows reads the tables of docs/spec.md whose first column holds keys.
func readRows(text string) (rows []row) {
	heading := ""
	var columns []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		case !strings.HasPrefix(line, "|"):
			columns = nil
		case columns == nil:
			columns = cells(line)
		case keyTable.MatchString(columns[0]) && !strings.HasPrefix(line, "|---"):
			rows = append(rows, newRow(heading, columns, cells(line)))
		}
	}
	return rows
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func newRow(heading string, columns, in []string) row {
	r := row{heading: heading, key: in[0]}
	for _, name := range quoted.FindAllStringSubmatch(strings.SplitN(in[0], ":", 2)[0], -1) {
		r.names = append(r.names, name[1])
	}
	if columns[0] == "value" {
		r.key += " value"
		_, r.value, _ = strings.Cut(in[0], ": ")
	}
	for i, column := range columns[1:] {
		cell := in[i+1]
		switch {
		case cell == "":
		case column == "with":
			r.with = cell
		case column == "value" || column == "range":
			r.value = cell
		case column == "default":
			r.standard = cell
		case column == "meaning":
			r.meaning = cell
		case column == "refused":
			r.refused = cell
		}
	}
	if other, is := strings.CutPrefix(r.value, "or "); is {
		r.value = r.standard + ", " + other
	}
	return r
}

// row finds the row of a key.
func (k key) row(rows []row) (row, bool) {
	of := owners[strings.TrimSuffix(k.place, "."+k.name)]
	if k.of != of.name { // description
		of = owner{heading: "Keys at the top"}
		slices.Reverse(rows)
		defer slices.Reverse(rows)
	}
	var found []row
	for _, r := range rows {
		if r.heading == of.heading && slices.Contains(r.names, k.name) {
			found = append(found, r)
		}
	}
	for _, r := range found {
		if of.also != "" && strings.HasSuffix(r.key, of.also) || of.also == "" && !strings.Contains(r.key, "(of") && !strings.HasSuffix(r.key, "value") {
			return r, true
		}
	}
	if len(found) == 0 {
		return row{}, false
	}
	return found[0], true
}
