package survey

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Sample collects what the report needs of the records of a topic.
type Sample struct {
	topic      string
	partitions int
	seed       maphash.Seed
	names      map[string]int
	all        []string // by number
	taken      []taken
	sizes      []int
	last       map[int32]time.Time
	report     Report
}

// taken is what is kept of a record.
type taken struct {
	partition int32
	time      time.Time
	form      Form
	keyed     bool
	key       fact
	keyForm   KeyForm
	headers   []fact
	members   []fact
	more      bool   // it has further members
	content   uint64 // hash of the members
}

// fact is what is kept of a header, a member or a key.
type fact struct {
	name         int
	is, elements kinds
	hash         uint64 // of a scalar's text
	usable       bool   // not repeated, not empty
	text         string // only where it may be the type of the event
}

// New returns an empty sample.
func New(topic string, partitions int) *Sample {
	return &Sample{topic: topic, partitions: partitions, seed: maphash.MakeSeed(), names: map[string]int{}, last: map[int32]time.Time{}}
}

// Add adds a record. Those of a partition come in their order.
func (s *Sample) Add(r Record) {
	r.Time = r.Time.UTC()
	t := taken{partition: r.Partition, time: r.Time, keyed: r.Key != nil}
	if t.keyed {
		var plain string
		plain, t.keyForm = openKey(r.Key)
		t.key = s.scalar(plain)
	}
	for _, h := range r.Headers {
		t.headers = s.header(t.headers, h)
	}
	var members []member
	t.form, members, t.more = open(r.Value)
	for _, m := range members {
		s.member(&t, m)
	}
	if s.last[r.Partition].After(r.Time) {
		s.report.Backwards++
	}
	s.last[r.Partition] = r.Time
	s.taken = append(s.taken, t)
	s.sizes = append(s.sizes, len(r.Value))
}

// openKey returns the text in a record key.
func openKey(key []byte) (plain string, is KeyForm) {
	switch {
	case len(key) > 1 && key[0] == '"' && json.Unmarshal(key, &plain) == nil:
		return plain, QuotedKey
	case len(key) == 8 && key[0] == 0:
		return strconv.FormatUint(binary.BigEndian.Uint64(key), 10), LongKey
	case len(key) > 0 && key[0] == 0:
		return string(key), OtherKey
	}
	return string(key), TextKey
}

// scalar is the fact of a text, which is not kept. The same UUID may be written in two ways.
func (s *Sample) scalar(plain string) fact {
	f := fact{is: kindOfText(plain), usable: plain != ""}
	switch {
	case !utf8.ValidString(plain):
		f.is = other
	case f.is == uuid:
		plain = strings.ToLower(plain)
	}
	f.hash = maphash.String(s.seed, plain)
	return f
}

func (s *Sample) header(headers []fact, h Header) []fact {
	if len(headers) == mostMembers || !nameable(h.Name) {
		return headers
	}
	f := s.scalar(string(h.Value))
	f.name, f.usable = s.number(h.Name), f.usable && f.is != other
	if slices.Contains(typeHeaders, h.Name) {
		f.text = typeText(f, string(h.Value))
	}
	if i := slices.IndexFunc(headers, func(o fact) bool { return o.name == f.name }); i >= 0 {
		headers[i].usable, headers[i].text = false, "" // twice
		return headers
	}
	return append(headers, f)
}

func (s *Sample) member(t *taken, m member) {
	var compact bytes.Buffer
	_ = json.Compact(&compact, m.raw) // it is valid
	if string(m.raw) != "null" {
		t.content += maphash.String(s.seed, m.name+"\x00"+compact.String())
	}
	if _, known := s.names[m.name]; !nameable(m.name) || !known && len(s.all) >= mostNames {
		t.more = true
		return
	}
	is, elements, plain := kindOfJSON(m.raw)
	f := s.scalar(plain)
	f.name, f.is, f.elements = s.number(m.name), is, elements
	if slices.Contains(typeMembers, m.name) && is&texts != 0 {
		f.text = typeText(f, plain)
	}
	if i := slices.IndexFunc(t.members, func(o fact) bool { return o.name == f.name }); i >= 0 {
		t.form = Invalid // a member twice is a decode error
		return
	}
	t.members = append(t.members, f)
}

// nameable reports whether a spec can name a header or a member.
func nameable(name string) bool {
	return name != "" && len(name) <= 100 && utf8.ValidString(name) && !strings.ContainsAny(name, "\"$\\") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' })
}

func (s *Sample) number(name string) int {
	n, known := s.names[name]
	if !known {
		n = len(s.all)
		s.names[name] = n
		s.all = append(s.all, name)
	}
	return n
}

// Report describes what was added.
func (s *Sample) Report() *Report {
	r := s.report
	r.Topic, r.Partitions, r.Records = s.topic, s.partitions, len(s.taken)
	if len(s.taken) == 0 {
		return &r
	}
	// Partitions are read side by side. What is said of repeats does not depend on how.
	slices.SortStableFunc(s.taken, func(a, b taken) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.partition, b.partition)) })
	forms := map[Form]int{}
	r.Oldest, r.Newest = s.taken[0].time, s.taken[0].time
	for _, t := range s.taken {
		forms[t.form]++
		if t.time.Before(r.Oldest) {
			r.Oldest = t.time
		}
		if t.time.After(r.Newest) {
			r.Newest = t.time
		}
	}
	for form, n := range forms {
		r.Forms = append(r.Forms, Count{form, n})
	}
	slices.SortFunc(r.Forms, func(a, b Count) int {
		if a.Records != b.Records {
			return b.Records - a.Records
		}
		return strings.Compare(string(a.Form), string(b.Form))
	})
	sizes := slices.Sorted(slices.Values(s.sizes))
	r.Median, r.Largest = sizes[len(sizes)/2], sizes[len(sizes)-1]
	usable := slices.Clone(s.taken)
	most := r.Form().Form
	usable = slices.DeleteFunc(usable, func(t taken) bool { return t.form != most })
	if most == JSONObject || most == JSONText || most == JSONFramed {
		s.events(&r, usable)
	}
	s.keys(&r, usable)
	return &r
}
