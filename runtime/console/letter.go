package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/view"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/wire"
)

// letter is a dead letter with what is around it.
type letter struct {
	*operate.Opened
	Behind   []operate.Letter // that wait behind it, the first ones
	Parked   int              // how many wait behind it, up to 10,001
	Payload  bool             // the user may see the record
	Record   *view.Shown      // nil: it was not asked for, or is not kept
	KeyName  string           // selects the letters of its record key; "" if the key is not shown, or there is none
	Returned string           // what its effect returned; "" if it is not shown
	Response string           // what the other side answered to a call that was refused; "" if it is not shown
	Refused  map[string]string
	Hints    []string // what can be done besides the forms
	Commands []string // what the forms do, as commands
}

// mostBehind is how many of the letters behind a letter its page has.
const mostBehind = 20

// May returns why a request is not possible; "" if it is.
func (l *letter) May(verb string) string { return l.Refused[verb] }

// open reads the letter that a request names.
func (c *console) open(q *request) (*letter, error) {
	name, offset, err := q.place()
	if err != nil {
		return nil, err
	}
	o, err := operate.Open(q.r.Context(), c.read, name, offset)
	if err != nil {
		return nil, err
	}
	l := &letter{Opened: o, Payload: q.user.Payload, Refused: map[string]string{}}
	for _, verb := range []string{"replay", "discard"} {
		if err := o.May(verb); err != nil {
			l.Refused[verb] = err.Error()
		}
	}
	for _, step := range o.Next {
		if strings.Contains(step, "idemgen ") {
			l.Commands = append(l.Commands, step)
		} else {
			l.Hints = append(l.Hints, step)
		}
	}
	l.Behind, l.Parked, err = operate.BehindLetter(q.r.Context(), c.read, &o.Letter, mostBehind)
	return l, err
}

func (c *console) letter(q *request) { c.showLetter(q, false) }

// record shows a letter with its record. Each view is logged.
func (c *console) record(q *request) { c.showLetter(q, true) }

func (c *console) showLetter(q *request, record bool) {
	l, err := c.open(q)
	if err != nil {
		c.failed(q, err)
		return
	}
	if record {
		c.log.Info("an operator viewed the record of a dead letter", "user", q.user.Name, "letter", l.Name())
		if l.Opened.Record != nil {
			shown := c.specs[l.Consumer].Show(l.Topic, l.Event, message(l.Opened.Record))
			l.Record = &shown
			if key := l.Opened.Record.Key; key != nil && shown.WholeKey {
				l.KeyName = operate.KeyName(key.Raw())
			}
		}
		if l.Opened.Returned != nil {
			l.Returned = c.specs[l.Consumer].Result(l.Topic, l.Event, l.Opened.Returned.Raw())
		}
		if l.Opened.Response != nil {
			l.Response = c.specs[l.Consumer].Response(l.Topic, l.Event, l.Opened.Response.Raw())
		}
	}
	c.render(q, "letter.html", shown{
		Title: fmt.Sprintf("%s %s/%d:%d", l.State, l.Topic, l.Partition, l.Offset), Tab: "dead", Now: time.Now().UTC(), Refresh: l.Asked() != "" && !record,
		Command: "idemgen dead show " + l.CommandName(), Data: l,
	})
}

// message returns a stored record as packages that decode records take it.
func message(r *operate.Record) *wire.Message {
	m := &wire.Message{}
	if r.Key != nil {
		m.Key = r.Key.Raw()
	}
	if r.Value != nil {
		m.Value = r.Value.Raw()
	}
	for _, h := range r.Headers {
		header := wire.Header{Name: h.Name}
		if h.Value != nil {
			header.Value = h.Value.Raw()
		}
		m.Headers = append(m.Headers, header)
	}
	return m
}

// raw serves the payload as a file, if nothing in it is sensitive.
func (c *console) raw(q *request) {
	l, err := c.open(q)
	if err == nil && (l.Opened.Record == nil || l.Opened.Record.Value == nil) {
		err = errors.New("there is no payload")
	}
	if err == nil && !c.specs[l.Consumer].Show(l.Topic, l.Event, message(l.Opened.Record)).Raw {
		err = errors.New("the raw payload is not available: its spec marks values as sensitive, or is not known here")
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.log.Info("an operator downloaded the payload of a dead letter", "user", q.user.Name, "letter", l.Name())
	h := q.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="letter-%d-%d.bin"`, l.Partition, l.Offset))
	_, _ = q.w.Write(l.Opened.Record.Value.Raw())
}

// decide requests something of one letter.
func (c *console) decide(q *request) {
	name, offset, err := q.place()
	var found []operate.Letter
	if err == nil {
		found, err = operate.FindLetters(q.r.Context(), c.read, []operate.Place{{Consumer: name.Consumer, Topic: name.Topic, TopicID: name.TopicID, Partition: name.Partition, Offset: offset}})
	}
	if seq := q.text("seq"); err == nil && seq != "" && seq != strconv.FormatInt(found[0].Seq, 10) {
		err = errors.New("the page shows another letter of this offset than the one that is open now: read it again")
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	verb := q.text("verb")
	switch verb {
	case "withdraw":
		_, err = operate.TakeBack(q.r.Context(), c.write, found, q.by())
	case "discard":
		if q.text("sure") != "yes" {
			err = errors.New("a discarded letter never takes effect: check the box to confirm")
			break
		}
		_, err = operate.Ask(q.r.Context(), c.write, found, verb, nil, q.by())
	case "replay":
		var result []byte
		if found[0].CallsAgain() && q.text("happened") == "" {
			err = errors.New("say whether the call happened: a replay would repeat it")
			break
		}
		if result, err = q.result(); err == nil {
			_, err = operate.Ask(q.r.Context(), c.write, found, verb, result, q.by())
		}
	default:
		err = fmt.Errorf("a letter can be replayed or discarded, not %q", verb)
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.log.Info("an operator decided on a dead letter", "user", q.user.Name, "reason", q.text("reason"), "verb", verb, "letter", found[0].Name())
	c.recent.forget()
	q.back("letter", place(found[0], offset))
}

// result returns what an operator says that the call of an effect returned; nil if the call is
// made again.
func (q *request) result() ([]byte, error) {
	switch q.text("happened") {
	case "", "no":
		return nil, nil
	case "yes":
		text := q.text("result")
		if !json.Valid([]byte(text)) {
			return nil, errors.New("the result of the call must be JSON, with the member names of the spec; null if it has none")
		}
		return []byte(text), nil
	}
	return nil, errors.New("say whether the call happened")
}
