package console

import (
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/gen/explain"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/internal/visible"
)

// found is what became of a record.
type found struct {
	Topics  []string
	Parts   []string // of keys of the topic
	Asked   bool
	Answers []operate.Answer
	Wrong   string // why there is no answer
}

// find says what became of a record, by its offset or its key.
func (c *console) find(q *request) {
	f, state := &found{}, summary{}
	if s, _, err := c.snapshot(q.r.Context()); err == nil {
		state = s.Summary
		for _, t := range s.Topics {
			f.Topics = appendNew(f.Topics, t.Topic)
		}
	}
	command := "idemgen find"
	if f.Asked = q.text("topic") != ""; f.Asked {
		var err error
		if f.Answers, command, err = c.lookUp(q, f); err != nil {
			_, f.Wrong = c.explained(err)
		}
	}
	c.render(q, "find.html", shown{Title: "Find", Tab: "find", Command: command, State: state, Data: f})
}

// lookUp finds the record that a request describes.
func (c *console) lookUp(q *request, f *found) ([]operate.Answer, string, error) {
	topic, command := q.text("topic"), "idemgen find "+quoted(q.text("topic"))
	consumer := q.text("consumer")
	if consumer != "" {
		command += " --consumer " + quoted(consumer)
	} else {
		var err error
		if consumer, err = operate.ConsumerOf(q.r.Context(), c.read, topic); err != nil {
			return nil, command, err
		}
	}
	var at *operate.Place
	if text := q.text("at"); text != "" {
		command += " --offset " + quoted(text)
		partition, offset, _ := strings.Cut(text, ":")
		p, errP := strconv.ParseInt(partition, 10, 32)
		o, errO := strconv.ParseInt(offset, 10, 64)
		if errors.Join(errP, errO) != nil || p < 0 || o < 0 {
			return nil, command, errors.New("write the record as PARTITION:OFFSET, such as 3:4711")
		}
		at = &operate.Place{Consumer: consumer, Topic: topic, Partition: int32(p), Offset: o}
	}
	keys, words, err := c.keys(q, f, consumer, topic)
	command += words
	if err != nil {
		return nil, command, err
	}
	if at == nil && keys == nil {
		return nil, command, errors.New("give the record as PARTITION:OFFSET, or the parts of its key")
	}
	answers, err := operate.Find(q.r.Context(), c.read, operate.Name{Consumer: consumer, Topic: topic, Partition: operate.Any}, at, keys)
	return answers, command, err
}

// keys makes the keys that a request describes; nil if it describes none.
func (c *console) keys(q *request, f *found, consumer, topic string) (keys []record.EventKey, words string, err error) {
	spec := c.specs[consumer]
	if spec != nil {
		_, f.Parts, _ = spec.Topic(topic)
	}
	var parts []eventkey.Value
	for _, line := range strings.Split(q.form.Get("key"), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, is := strings.Cut(line, "=")
		if len(f.Parts) == 1 && strings.TrimSpace(name) != f.Parts[0] {
			name, value = f.Parts[0], line
		} else if !is {
			return nil, words, errors.New("write each part of the key as NAME=VALUE, on a line of its own")
		}
		parts = append(parts, eventkey.Value{Name: strings.TrimSpace(name), Text: value})
		words += " --key " + quoted(strings.TrimSpace(name)+"="+value)
	}
	if parts == nil {
		return nil, words, nil
	}
	if spec == nil {
		return nil, words, fmt.Errorf("the spec of %s, which defines its keys, is not known here: give the record as PARTITION:OFFSET", consumer)
	}
	keys, err = spec.Keys(topic, "", parts)
	return keys, words, err
}

const historyRows = 200

// acts are what operators did.
type past struct {
	Acts      []operate.Act
	TakeOvers bool
	Full      bool // there may be more
}

func (c *console) history(q *request) {
	p := past{TakeOvers: q.text("owners") != ""}
	var err error
	if p.Acts, err = operate.History(q.r.Context(), c.read, q.text("consumer"), p.TakeOvers, historyRows); err != nil {
		c.failed(q, err)
		return
	}
	p.Full = len(p.Acts) == historyRows
	c.render(q, "history.html", shown{Title: "History", Tab: "history", Refresh: true, Data: p})
}

// historyFile serves the history for reports.
func (c *console) historyFile(q *request) {
	acts, err := operate.History(q.r.Context(), c.read, q.text("consumer"), true, 10*historyRows)
	if err != nil {
		c.failed(q, err)
		return
	}
	q.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	q.w.Header().Set("Content-Disposition", `attachment; filename="history.csv"`)
	out := csv.NewWriter(q.w)
	_ = out.Write([]string{"at", "who", "what", "consumer", "topic", "partition", "from", "to", "letters", "why"})
	for _, a := range acts {
		_ = out.Write([]string{a.At.Format(time.RFC3339), cell(a.By), cell(a.What), cell(a.Consumer), cell(a.Topic), blank(int64(a.Partition)), blank(a.From), blank(a.To),
			strconv.Itoa(a.Letters), cell(a.Why)})
	}
	out.Flush() // an error means that the reader has gone
}

// formula is where a formula would begin: at the start, or behind a character that a spreadsheet
// may take for the end of a cell. Users choose that character, and blanks and quotes may be
// trimmed.
var formula = regexp.MustCompile(`(^|[,;|\t\r\n])([\s\p{Zs}"']*)([=+\-@＝＋－＠])`)

// cell returns a text in which spreadsheets find no formula, whatever separates cells.
func cell(text string) string {
	return formula.ReplaceAllString(visible.Text(text), "$1$2'$3")
}

func blank(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func (c *console) effects(q *request) {
	s, at, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "effects.html", shown{Title: "Effects", Tab: "effects", Now: at, Refresh: true, Command: "idemgen dead list --class interrupted", State: s.Summary, Data: s})
}

// sending is the state of the outbox.
type sending struct {
	*operate.Outbox
	NotRead  *operate.Problem // nil if the table was read
	Severity operate.Severity
	Cards    []card
	Kinds    []operate.Kind
	Relays   []operate.Process
}

func (c *console) outbox(q *request) {
	s, at, err := c.snapshot(q.r.Context())
	o := sending{}
	if err == nil {
		for _, p := range s.Processes {
			if p.Relay != nil {
				o.Relays = append(o.Relays, p)
			}
		}
		o.Severity = s.worst(isSending)
		o.Cards = slices.DeleteFunc(s.Cards(), func(c card) bool { return !isSending(*c.Problem) })
		if o.Outbox, o.NotRead = s.Outbox, s.notRead("outbox"); o.Outbox != nil && o.NotRead == nil {
			o.Kinds, err = operate.OutboxKinds(q.r.Context(), c.read)
		}
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "outbox.html", shown{Title: "Outbox", Tab: "outbox", Now: at, Refresh: true, Command: "idemgen stream list", Data: o})
}

// promises are the guarantees of a consumer.
type promises struct {
	Consumer string
	Topics   []explain.Topic
}

func (c *console) guarantees(q *request) {
	s, _, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	all := []promises{}
	var without []string
	for _, name := range s.Summary.Consumers {
		if spec := c.specs[name]; spec != nil {
			all = append(all, promises{name, spec.Guarantees()})
		} else {
			without = append(without, name)
		}
	}
	c.render(q, "guarantees.html", shown{Title: "Guarantees", Tab: "guarantees", Command: "idemgen explain", Data: struct {
		Consumers []promises
		Without   []string
	}{all, without}})
}
