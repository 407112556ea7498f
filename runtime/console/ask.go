package console

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// typed is above how many letters their number must be typed to confirm a request.
const typed = 100

// asking is a request about a selection, before it is made.
type asking struct {
	Verb      string
	Selection operate.Selection
	Query     template.URL
	Back      template.URL // the same letters, whenever they came
	Through   when
	Count     operate.Count
	Typed     string // what must be typed; "" for few letters
	Grew      bool   // more letters match than were confirmed
}

// verb returns what a request asks for.
func (q *request) verb() (string, error) {
	verb := q.text("verb")
	if verb != "replay" && verb != "discard" {
		return "", errors.New("letters can be replayed or discarded")
	}
	return verb, nil
}

// asking reads the request that a form describes.
func (c *console) asking(q *request) (*asking, error) {
	a := &asking{}
	var err error
	if a.Verb, err = q.verb(); err != nil {
		return nil, err
	}
	if a.Selection, err = q.selection(); err != nil {
		return nil, err
	}
	switch {
	case a.Selection.Through == (operate.Mark{}):
		return nil, errors.New("the request does not name the newest letter that it includes")
	case a.Selection.Topic == "" && a.Selection.Consumer == "":
		return nil, errors.New("choose a topic or a consumer first: otherwise the request would include all letters of the database")
	}
	all := a.Selection
	all.Through = operate.Mark{}
	a.Query, a.Back = pairs(a.Selection), pairs(all)
	if a.Count, err = operate.CountOf(q.r.Context(), c.read, a.Selection, a.Verb); err != nil {
		return nil, err
	}
	if a.Count.Meant > typed || a.Count.Older != nil {
		a.Typed = fmt.Sprint(a.Count.Meant)
	}
	return a, nil
}

// confirmAsk shows how many letters a request is about.
func (c *console) confirmAsk(q *request) {
	a, err := c.asking(q)
	if err != nil {
		c.failed(q, err)
		return
	}
	c.showAsking(q, a)
}

func (c *console) showAsking(q *request, a *asking) {
	now := time.Now().UTC()
	a.Through = when{a.Selection.Through.At, now}
	c.render(q, "ask.html", shown{Title: "Confirm", Tab: "dead", Now: now, Command: askCommand(a.Verb, a.Selection), Data: a})
}

// askPatience is how long a form waits for the request to be stored for all letters. Storing goes
// on afterwards.
const askPatience = 3 * time.Second

// mostAsk is how long a request about a selection may take: a million letters need about 20 s.
const mostAsk = 10 * time.Minute

// ask makes a request about a selection.
func (c *console) ask(q *request) {
	a, err := c.asking(q)
	if err == nil {
		if confirmed, errNumber := strconv.Atoi(q.text("meant")); errNumber == nil && a.Count.Meant > confirmed {
			a.Grew = true
			c.showAsking(q, a)
			return
		}
	}
	if err == nil && a.Typed != "" && digits(q.text("count")) != a.Typed {
		err = fmt.Errorf("type %s, the number of letters, to confirm", a.Typed)
	}
	risky := a != nil && (a.Verb == "discard" || a.Count.Again > 0)
	if err == nil && risky && q.text("sure") != "yes" {
		err = errors.New("check the box in the form to confirm the request")
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	bulk, err := operate.AskAll(q.r.Context(), c.write, a.Selection, a.Verb, q.by())
	if err != nil {
		c.failed(q, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.r.Context()), mostAsk)
	done := make(chan error, 1)
	go func(user, why string) {
		defer cancel()
		err := bulk.Run(ctx)
		c.log.Info("an operator made a request about dead letters", "user", user, "reason", why, "verb", a.Verb,
			"selection", logged(a.Selection), "asked", bulk.Count, "left_out", bulk.Left, "err", err)
		c.recent.forget()
		done <- err
	}(q.user.Name, q.text("reason"))
	select {
	case err := <-done:
		if err != nil {
			c.failed(q, err)
			return
		}
		q.back("asked", query("at", bulk.At.UnixMicro(), "calls", bulk.Left.Calls, "gone", bulk.Left.Gone+bulk.Left.Former, "back", a.Query))
	case <-time.After(askPatience):
		q.back("asked", query("at", bulk.At.UnixMicro(), "back", a.Query, "running", 1))
	}
}

// logged is a selection as the log has it: a record key, or a text of an error, may be somebody's
// data, so the log says only that letters were selected by it.
func logged(s operate.Selection) slog.Value {
	which := []slog.Attr{slog.String("consumer", s.Consumer), slog.String("topic", s.Topic), slog.String("class", s.Class), slog.String("event", s.Event)}
	return slog.GroupValue(append(which, slog.Bool("by_key", s.RecordKey != ""), slog.Bool("by_error", s.Error != ""))...)
}

// digits are those of a number as people write it.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// answered is what became of a request about a selection.
type answered struct {
	operate.Progress
	At          when
	Calls, Gone string
	Back        template.URL
	Running     bool
}

// asked shows what became of a request.
func (c *console) asked(q *request) {
	micros, err := q.number("at", 64)
	var p operate.Progress
	at := time.UnixMicro(micros).UTC()
	if err == nil {
		p, err = operate.ProgressOf(q.r.Context(), c.read, at)
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	now := time.Now().UTC()
	s, err := parseSelection(q.text("back"))
	if err != nil {
		c.failed(q, err)
		return
	}
	s.Through = operate.Mark{}
	c.render(q, "asked.html", shown{
		Title: "Request of " + at.Format("15:04:05"), Tab: "dead", Now: now, Refresh: true,
		Data: answered{p, when{at, now}, q.text("calls"), q.text("gone"), pairs(s), q.text("running") != "" && p.Pending > 0},
	})
}

// withdraw withdraws what is pending of a request.
func (c *console) withdraw(q *request) {
	micros, err := q.number("at", 64)
	if err == nil {
		err = operate.WithdrawAll(q.r.Context(), c.write, time.UnixMicro(micros).UTC(), q.by())
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.log.Info("an operator withdrew a request about dead letters", "user", q.user.Name, "reason", q.text("reason"), "at", micros)
	c.recent.forget()
	q.back("asked", query("at", micros, "back", q.text("back")))
}
