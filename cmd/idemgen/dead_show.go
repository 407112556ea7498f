package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// deadShowCommand shows all of one dead letter.
func deadShowCommand(flags *streamFlags) *cobra.Command {
	var raw, consumer string
	cmd := &cobra.Command{
		Use:   "show TOPIC PARTITION:OFFSET [--consumer C]",
		Short: "Show a dead letter with its record, and what can be done next",
		Long: `Shows a dead letter: why, its record with headers, key and payload, and what can be done next. The
payload is printed as it is, with whatever it says of people.`,
		Args: arguments("TOPIC", "PARTITION:OFFSET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			partition, offset, err := place(args[1])
			if err != nil {
				return err
			}
			if raw == "-" && answerOf(cmd).wanted {
				return errors.New("--raw - and --json would both write to stdout: give --raw a file")
			}
			return flags.reads(cmd, func(ctx context.Context, db operate.DB) (result, error) {
				consumer, err := theConsumer(ctx, db, consumer, args[0])
				if err != nil {
					return nil, err
				}
				o, err := operate.Open(ctx, db, operate.Name{Consumer: consumer, Topic: args[0], Partition: partition}, offset)
				if err != nil || raw == "" {
					return opened{o}.orNothing(err)
				}
				return writePayload(o, raw)
			})
		},
	}
	asJSON(cmd)
	consumerFlag(cmd, &consumer)
	cmd.Flags().StringVar(&raw, "raw", "", "write the payload's bytes to this file, which must not exist; - is stdout")
	return cmd
}

// payload is the result of show --raw.
type payload struct {
	File  string `json:"file"` // "-" is stdout
	Bytes int    `json:"bytes"`
	raw   []byte
}

func (p payload) member() string { return "payload" }

func (p payload) text() string {
	if p.File == "-" {
		return string(p.raw)
	}
	return fmt.Sprintf("%s: %d bytes\n", p.File, p.Bytes)
}

// writePayload writes the payload to a new file that only the user can read.
func writePayload(o *operate.Opened, to string) (result, error) {
	name := letterName(o.Consumer, o.Topic, o.Partition, o.Offset)
	switch {
	case o.ErasedBy != "":
		return nil, fmt.Errorf("%s: its record was erased by %s", name, o.ErasedBy)
	case o.Record == nil:
		return nil, fmt.Errorf("%s: its record is not kept", name)
	case o.Record.Value == nil:
		return nil, fmt.Errorf("%s: its record is a tombstone, without a payload", name)
	}
	p := payload{to, len(o.Record.Value.Raw()), o.Record.Value.Raw()}
	if to == "-" {
		return p, nil
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(p.raw)
	return p, errors.Join(err, f.Close())
}

// opened is the result of dead show.
type opened struct{ *operate.Opened }

func (o opened) orNothing(err error) (result, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (o opened) member() string { return "dead_letter" }

// MarshalJSON writes the letter, and what can be done next.
func (o opened) MarshalJSON() ([]byte, error) {
	return plainJSON(struct {
		*operate.Opened
		Next []string `json:"next"`
	}{o.Opened, o.next()})
}

const fact = "%-10s %s\n" // a line of the text

func (o opened) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d of %s, offset %d\n", o.Topic, o.Partition, o.Consumer, o.Offset)
	say := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, fact, name, value)
		}
	}
	say("state", o.standing())
	say("reason", o.Class)
	say("event", o.Event)
	say("error", o.Reason)
	say("sqlstate", o.SQLState)
	say("key", o.Key)
	if o.Called {
		say("effect", "the call was made; it returned "+o.answered())
	}
	if o.Class == "conflict" && o.Key != "" {
		say("first copy", o.first())
	}
	if r := o.Request; r != nil {
		say("request", requested(r))
		if a := o.LedgerAge; r.For != "" && a != nil && *a > quiet.Seconds() {
			say("owner", nobody(*a))
		}
	}
	for i := range o.Earlier {
		e := &o.Earlier[i]
		say("before", fmt.Sprintf("%s %s, %s: %s", e.CreatedAt.Format(time.RFC3339), e.State, e.Class, e.Reason))
	}
	o.record(&b)
	b.WriteString("\nWhat can be done next:\n")
	for _, step := range o.next() {
		fmt.Fprintf(&b, "  %s\n", step)
	}
	return b.String()
}

// answered is what the call of the effect returned.
func (o opened) answered() string {
	switch {
	case o.ErasedBy != "":
		return "what was erased"
	case o.Returned == nil:
		return "what is not kept"
	case o.Returned.Text != nil && *o.Returned.Text == "null":
		return "nothing, as its type says"
	}
	return oneLineOf(o.Returned)
}

// standing is the letter's state, since when, and until when.
func (o opened) standing() string {
	text := fmt.Sprintf("%s since %s, ledger row %d", o.State, o.CreatedAt.Format(time.RFC3339), o.Seq)
	if e := o.End; e != nil {
		text = fmt.Sprintf("%s, was passed at %s, ledger row %d", o.State, o.CreatedAt.Format(time.RFC3339), o.Seq)
		if e.At != nil {
			text += "; closed at " + e.At.Format(time.RFC3339)
		}
		if e.Seq != nil {
			text += fmt.Sprintf(", ledger row %d", *e.Seq)
		}
		if e.By != "" {
			text += ", by " + e.By
		}
	} else if o.ExpiresAt != nil {
		text += "; it is closed at " + o.ExpiresAt.Format(time.RFC3339)
	}
	return text
}

// first says where the first copy of a conflict is.
func (o opened) first() string {
	if o.First == nil {
		return "no row of a ledger has it: it did not take effect, or is not known any more"
	}
	return o.First.String()
}

// record writes the record.
func (o opened) record(b *strings.Builder) {
	r := o.Record
	if o.ErasedBy != "" {
		fmt.Fprintf(b, fact, "record", "erased by "+o.ErasedBy)
		return
	}
	if r == nil {
		fmt.Fprintf(b, fact, "record", "not kept: only where it stood, and why it failed")
		return
	}
	when := "none"
	if r.Time != nil {
		by := "the producer"
		if r.ByBroker {
			by = "the broker"
		}
		when = r.Time.Format(time.RFC3339Nano) + ", set by " + by
	}
	fmt.Fprintf(b, fact, "time", when)
	fmt.Fprintf(b, fact, "record key", oneLineOf(r.Key))
	for _, h := range r.Headers {
		fmt.Fprintf(b, fact, "header", quoteUnlessPlain(h.Name)+": "+oneLineOf(h.Value))
	}
	if r.Value == nil {
		fmt.Fprintf(b, fact, "payload", "none: a tombstone")
		return
	}
	kind, body := pretty(r.Value)
	fmt.Fprintf(b, fact+"\n%s", "payload", fmt.Sprintf("%d bytes, %s", len(r.Value.Raw()), kind), body)
}

// oneLineOf shows a key or a header's value.
func oneLineOf(v *operate.Bytes) string {
	switch {
	case v == nil:
		return "none"
	case v.Text == nil:
		return "hex " + v.Hex
	}
	return quoteUnlessPlain(*v.Text)
}

// quoteUnlessPlain quotes a text in which blanks or marks would be overlooked.
func quoteUnlessPlain(text string) string {
	if quoted := strconv.Quote(text); text == "" || quoted[1:len(quoted)-1] != text || strings.TrimSpace(text) != text {
		return quoted
	}
	return text
}

// mostHex is how much of a payload that is no text is shown; --raw writes all of it.
const mostHex = 4096

// pretty is a payload for people: JSON is indented.
func pretty(v *operate.Bytes) (kind, body string) {
	var indented bytes.Buffer
	switch raw := v.Raw(); {
	case v.Text == nil && len(raw) > mostHex:
		return fmt.Sprintf("no text; its first %d", mostHex), hex.Dump(raw[:mostHex])
	case v.Text == nil:
		return "no text", hex.Dump(raw)
	case json.Indent(&indented, raw, "", "  ") == nil:
		return "JSON", strings.TrimSpace(indented.String()) + "\n"
	case len(raw) == 0:
		return "text", ""
	}
	return "text", strings.TrimSuffix(*v.Text, "\n") + "\n"
}

// next are the steps that are left to a person: commands, as far as there are any.
func (o opened) next() []string {
	if !o.Open() {
		return []string{"nothing: it is " + o.State}
	}
	if o.State == "waiting" {
		return []string{o.ahead()}
	}
	var steps []string
	name := letterName(o.Consumer, o.Topic, o.Partition, o.Offset)
	if o.Record != nil && o.Class == "interrupted" {
		steps = append(steps,
			"find out on the other side what the call did; it was not done: idemgen dead replay "+name+` --reason "how you know"`,
			"it was done: idemgen dead replay "+name+` --reason "how you know" --result 'what it returned, as JSON'`,
			"the result has the members of the type that effect.result of "+o.Event+" names in the spec; it is null if there is none")
	} else if o.Record != nil && o.Class == "result" {
		steps = append(steps,
			"run a version of the service that reads what the call returned, then: idemgen dead replay "+name+` --reason "what was mended"`,
			"or say what it returned: idemgen dead replay "+name+` --reason "how you know" --result 'the result, as JSON'`)
	} else if o.Record != nil && advice[o.Class] == "" {
		steps = append(steps, "mend the cause, then: idemgen dead replay "+name+` --reason "what was mended"`)
	}
	if o.ErasedBy != "" {
		return append(steps, "close it: idemgen dead discard "+name+` --reason "why"`)
	}
	return append(steps, "give it up: idemgen dead discard "+name+` --reason "why"`, o.producer())
}

// ahead says what a letter waits for.
func (o opened) ahead() string {
	if o.Behind == nil {
		return "nothing: its turn is next"
	}
	return "replay or discard the dead letter behind which it waits; then it goes on by itself: idemgen dead show " +
		letterName(o.Consumer, o.Topic, o.Partition, *o.Behind)
}

// producer is what the producer can do.
func (o opened) producer() string {
	if o.Called && o.Class == "conflict" {
		return "the call of its effect was made all the same. Sent under another key, it is made once more: undo it on the other side first, or repair the rows by hand"
	}
	if o.Called {
		return "a copy that the producer sends is not called again as long as the result is kept"
	}
	again := "mend the cause, then let the producer send the event again: a dead letter claims no key"
	if o.Parks {
		again = "let the producer send a corrected event, then discard this one: until then it waits behind this one, as all later records of the record key do"
	}
	return cmp.Or(advice[o.Class], again)
}

// advice is the last step where it is another one than to send the event again.
var advice = map[string]string{
	"conflict":    "let the producer send the event under a key of its own: this key is another event's",
	"interrupted": "a copy that the producer sends is not called, either: docs/effects.md, A person decides",
}
