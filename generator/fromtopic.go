package generator

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/survey"
)

// encodings are the forms of values that a spec can be written from, as the language names them.
var encodings = map[survey.Form]string{survey.JSONObject: "", survey.JSONText: "json_string", survey.JSONFramed: "confluent_json"}

// specOfTopic is a first spec for what a topic holds: each event becomes a row of its own table.
func specOfTopic(s Start) ([]byte, error) {
	r := s.Topic
	if _, readable := encodings[r.Form().Form]; !readable {
		return nil, fmt.Errorf("no spec was written: the values of topic %s are %s", r.Topic, r.Form().Form)
	}
	w := &topicWriter{Report: r, names: topicNames{}, members: map[string]string{}}
	w.out = scaffold.Topic{
		Consumer: s.Consumer, Package: s.Package, Records: r.Records,
		Topic: yamlWord(r.Topic), Entry: yamlWord(r.Topic), Encoding: encodings[r.Form().Form],
	}
	if !isTopicEntry.MatchString(r.Topic) {
		w.out.Entry = "events"
	}
	w.recordKey()
	w.keys()
	w.unread()
	if where := r.EventType; where != nil && where.Header != "" {
		w.out.EventType = "{header: " + yamlWord(where.Header) + "}"
	} else if where != nil {
		w.out.EventType = "{path: " + pathWord(where.Member) + "}"
	}
	events, tables := eventNames(), topicNames{}
	for _, e := range r.Events {
		w.event(e, events, tables)
	}
	return scaffold.SpecOfTopic(w.out)
}

// topicWriter fills a spec from a report.
type topicWriter struct {
	*survey.Report
	out     scaffold.Topic
	names   topicNames
	members map[string]string // member -> name of the field
	part    scaffold.Column   // of the record key; without a name if there is none
	shared  bool              // all events have the key of the topic
}

var (
	isTopicEntry = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,80}$`)
	isYAMLWord   = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
	isPlain      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*$`)
	isHump       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// yamlWord is a text in YAML, without quotes if it needs none.
func yamlWord(text string) string {
	if isPlain.MatchString(text) && !isYAMLWord.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// pathWord is the path of a member, which has no quotes in its name.
func pathWord(member string) string {
	if !strings.Contains(member, ".") && isPlain.MatchString(member) {
		return yamlWord(member)
	}
	return "'\"" + strings.ReplaceAll(member, "'", "''") + "\"'"
}

// columnOf are the types of columns that take a type of fields.
var columnOf = map[string]string{
	"string": "text", "uuid": "uuid", "bool": "boolean", "int32": "integer", "int64": "bigint", "float64": "double precision", "decimal": "numeric",
	"timestamp": "timestamptz", "local_timestamp": "timestamp", "date": "date",
}

// columnType returns the type of a field's column; objects and lists are jsonb.
func columnType(of string, optional bool) string {
	column, scalar := columnOf[of]
	if !scalar {
		column = "jsonb"
	}
	if optional {
		column = "nullable " + column
	}
	return column
}

// field returns the name of the field for a member, in all events the same.
func (w *topicWriter) field(member string) string {
	name, known := w.members[member]
	if !known {
		name = w.names.entry(member, "f")
		w.members[member] = name
	}
	return name
}

// recordKey declares the key of the records, if all have one. It has the name of the field that it
// equals if the types are the same in all events.
func (w *topicWriter) recordKey() {
	k := w.RecordKey
	note := func(format string, args ...any) {
		w.out.RecordKeyNotes = append(w.out.RecordKeyNotes, fmt.Sprintf(format, args...))
	}
	switch {
	case k.Records == 0:
		note("The records have no key, so Kafka keeps no order among the records of one entity.")
		return
	case k.Records < w.Records:
		note("Only %d of %d records have a key, so there is no record_key.", k.Records, w.Records)
		return
	case k.Type == "bytes":
		note("The keys of the records are not text, or not all of one form, so there is no record_key: idemgen")
		note("cannot determine their encoding, which you declare as record_key_format.")
		return
	}
	w.part = scaffold.Column{Name: "record_key", Type: k.Type}
	of := ""
	for _, e := range w.Events {
		for _, f := range e.Fields {
			switch {
			case f.Member != k.Equals:
			case f.Optional || of != "" && f.Type != of || !slices.Contains([]string{"uuid", "string", "int64"}, f.Type):
				of = "none"
			default:
				of = f.Type
			}
		}
	}
	if of != "" && of != "none" {
		w.part = scaffold.Column{Name: w.field(k.Equals), Type: of}
	} else {
		w.part.Name = w.names.entry("record_key", "f")
	}
	switch w.out.RecordKey = fmt.Sprintf("{%s: %s}", w.part.Name, w.part.Type); k.Form {
	case survey.QuotedKey:
		w.out.RecordKey = fmt.Sprintf("{%s: {type: %s, path: $}} # a JSON string", w.part.Name, w.part.Type)
	case survey.LongKey:
		w.out.KeyFormat = "{encoding: binary}"
	}
	if k.Equals != "" {
		note("The key of the records equals member %s of the value.", strconv.Quote(k.Equals))
	}
	if w.out.AssumeNotes = []string{"Decide: does the producer send the records of one key to one partition, in their order? Then"}; k.Spread > 0 {
		w.out.AssumeNotes = []string{fmt.Sprintf("Keys with records in more than one partition: %d of %d. Do not promise that they are ordered.", k.Spread, k.Distinct)}
		return
	}
	w.out.AssumeNotes = append(w.out.AssumeNotes, fmt.Sprintf("add ordered to assume. In the sample no key (of %d) has records in two partitions. Records that are", k.Distinct),
		fmt.Sprintf("older than the one before them in their partition: %d.", w.Backwards))
}

// keys decides whether the events share a key.
func (w *topicWriter) keys() {
	first := w.Events[0].Key
	w.shared = !slices.ContainsFunc(w.Events, func(e *survey.Event) bool {
		return (e.Key == nil) != (first == nil) || first != nil && (e.Key.Header != first.Header || e.Key.Member != first.Member)
	})
	if slices.ContainsFunc(w.Events, func(e *survey.Event) bool { return e.Key == nil }) {
		w.out.Assume = "unique"
		w.out.AssumeNotes = append(w.out.AssumeNotes, "Decide: unique is a promise that no event is ever sent as two records. Nothing checks it, and a",
			"resend takes effect twice. Without it the steps of events without a key are refused (E501).")
	}
	if !w.shared {
		return
	}
	all := []*survey.Candidate{}
	for _, e := range w.Events {
		if e.Key != nil {
			all = append(all, e.Key)
		}
	}
	w.out.Key = w.key(all)
}

// key writes how records are recognized as one event. of are the candidates of its events, which
// have one source.
func (w *topicWriter) key(of []*survey.Candidate) *scaffold.Key {
	if len(of) == 0 {
		return &scaffold.Key{Text: "{source: {record: offset}}", Notes: []string{
			"No header and no field identifies an event in the sample, so topic, partition and offset do: a",
			"resend counts as a new event. Let the producer send a key that a resend repeats, such as a",
			"header Idempotency-Key; then write {source: {header: Idempotency-Key}, window: 8d}.",
		}}
	}
	sum := *of[0]
	for _, c := range of[1:] {
		sum.Records, sum.Distinct, sum.Same, sum.Other = sum.Records+c.Records, sum.Distinct+c.Distinct, sum.Same+c.Same, sum.Other+c.Other
		sum.Elsewhere, sum.Apart = sum.Elsewhere+c.Elsewhere, max(sum.Apart, c.Apart)
	}
	source, what := "{header: "+yamlWord(sum.Header)+"}", "Header "+strconv.Quote(sum.Header)
	if sum.Header == "" {
		source, what = w.field(sum.Member), "Member "+strconv.Quote(sum.Member)
	}
	k := &scaffold.Key{Text: fmt.Sprintf("{source: %s, window: %dd}", source, windowDays(sum.Apart))}
	if sum.Distinct == sum.Records {
		k.Notes = append(k.Notes, fmt.Sprintf("%s is in all of %s, and no text repeats.", what, counted(sum.Records)))
	} else {
		k.Notes = append(k.Notes, fmt.Sprintf("%s is in all of %s, with %d different texts. Repeats: %d with", what, counted(sum.Records), sum.Distinct, sum.Same),
			fmt.Sprintf("the same content, %d with other content, %d in another partition; at most %s apart.", sum.Other, sum.Elsewhere, sum.Longest()))
	}
	if sum.Other > 0 {
		k.Notes = append(k.Notes, "Decide: a repeat with other content becomes a dead letter. Is this the right key, and is compare",
			"needed because a resend changes fields?")
	}
	k.Notes = append(k.Notes, "Decide how late a resend may come: after the window it counts as a new event.")
	return k
}

func counted(records int) string {
	if records == 1 {
		return "1 record"
	}
	return strconv.Itoa(records) + " records"
}

// windowDays is how long duplicates are recognized: more than they were apart.
func windowDays(apart time.Duration) int {
	return min(3650, max(8, int(math.Ceil(apart.Hours()/24))+1))
}

// unread names the records that have no fields.
func (w *topicWriter) unread() {
	for _, c := range w.Forms {
		switch c.Form {
		case w.Form().Form:
		case survey.Tombstone:
			w.out.Skip = "tombstone"
			w.out.SkipNotes = append(w.out.SkipNotes, fmt.Sprintf("Decide: records without a value (%d) are skipped. An event with tombstone: true reads them.", c.Records))
		default:
			w.out.SkipNotes = append(w.out.SkipNotes, fmt.Sprintf("Values that are %s (%d) become dead letters.", c.Form, c.Records))
		}
	}
}
