package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// asked is the result of replay and discard.
type asked struct {
	letters []operate.Letter
	dry     bool
	leftOut int      // letters of interrupted calls
	hints   []string // about partitions that may have no owner
}

func (r *asked) member() string { return "letters" }

// MarshalJSON writes the letters.
func (r *asked) MarshalJSON() ([]byte, error) { return json.Marshal(r.letters) }

func (r *asked) text() string {
	var b strings.Builder
	if len(r.letters) == 0 {
		b.WriteString("no dead letter is meant\n")
	}
	for i := range r.letters {
		l := &r.letters[i]
		switch {
		case r.dry:
			fmt.Fprintf(&b, "%s: would ask to %s it (%s)\n", l.Name(), l.Asked(), l.Text())
		case l.ErasedBy != "":
			fmt.Fprintf(&b, "%s: erased\n", l.Name())
		case l.Answered() && l.State == "dead":
			fmt.Fprintf(&b, "%s: stays dead: %s\n", l.Name(), l.Answer())
		case l.Answered():
			fmt.Fprintf(&b, "%s: %s\n", l.Name(), l.Answer())
		default:
			fmt.Fprintf(&b, "%s: asked to %s it\n", l.Name(), l.Asked())
		}
	}
	if r.leftOut > 0 {
		fmt.Fprintf(&b, "left out: %d of interrupted calls, which a replay would make again (--class interrupted)\n", r.leftOut)
	}
	for _, hint := range r.hints {
		b.WriteString(hint + "\n")
	}
	return b.String()
}

// answerPause is the time between two looks for answers.
const answerPause = 200 * time.Millisecond

// await waits until each letter has its answer. It is an error if one has none in time, or if one
// stays dead.
func (r *asked) await(ctx context.Context, db operate.DB, most time.Duration) (result, error) {
	for end := time.Now().Add(most); ; time.Sleep(answerPause) {
		open, dead := 0, 0
		now, err := operate.Refresh(ctx, db, r.letters)
		if err != nil {
			return r, err
		}
		r.letters = now
		for i := range now {
			l := &now[i]
			switch {
			case !l.Answered():
				open++
			case l.State == "dead":
				dead++
			}
		}
		switch {
		case open == 0 && dead > 0:
			return r, fmt.Errorf("%d of %d letters stay dead", dead, len(r.letters))
		case open == 0:
			return r, nil
		case ctx.Err() != nil || time.Now().After(end):
			err := r.silent(ctx, db)
			return r, errors.Join(fmt.Errorf("no answer about %d of %d letters within %v: the request stays", open, len(r.letters), most), err)
		}
	}
}

// quiet is the age of a ledger's last row from which it is not known whether anybody owns the
// partition: one without records writes none.
const quiet = time.Minute

// nobody says that a partition may have no owner who does what is asked.
func nobody(seconds float64) string {
	return fmt.Sprintf("the last row of its ledger is %s old. If it has no records, wait; if it is halted, which Health and log of the service say, do what they name first; if no service runs, start one", age(seconds))
}

// silent adds a hint for each partition that may have no owner.
func (r *asked) silent(ctx context.Context, db operate.DB) error {
	if len(r.letters) == 0 {
		return nil
	}
	all, err := operate.List(ctx, db, r.letters[0].Consumer)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		mine := slices.ContainsFunc(r.letters, func(l operate.Letter) bool {
			return !l.Answered() && l.Topic == s.Topic && l.Partition == s.Partition
		})
		if mine && !s.Former && s.Tail != nil && s.Tail.AgeSeconds > quiet.Seconds() {
			r.hints = append(r.hints, fmt.Sprintf("%s/%d: %s", s.Topic, s.Partition, nobody(s.Tail.AgeSeconds)))
		}
	}
	return nil
}
