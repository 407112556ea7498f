package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// A flag takes the values that it is for, and says of others what it wants.
func TestFlagsSayWhatTheyWant(t *testing.T) {
	var word, text string
	var n int32
	var wide int64
	for _, c := range []struct {
		flag value
		text string
		is   func() any
		want string // the value, or the error
	}{
		{oneOf(&word, "open", "all"), "all", func() any { return word }, "all"}, {oneOf(&word, "open", "all"), "opne", nil, "did you mean open?"}, {oneOf(&word, "open", "all"), "everything", nil, "want one of open, all"},
		{number(&wide, 1, 100), "1", func() any { return wide }, "1"}, {number(&wide, 1, 100), "100", func() any { return wide }, "100"},
		{number(&wide, 1, 100), "0", nil, "want a number from 1 to 100"}, {number(&wide, 1, 100), "101", nil, "want a number from 1 to 100"}, {number(&wide, 1, 100), "x", nil, "want a number from 1 to 100"},
		{natural(&n), "0", func() any { return n }, "0"}, {natural(&n), fmt.Sprint(math.MaxInt32), func() any { return n }, "2147483647"}, {natural(&n), "2147483648", nil, "want a number from 0 to 2147483647"}, {natural(&n), "-1", nil, "want a number from 0 to 2147483647"},
		{notEmpty(&text, "name one"), " a ", func() any { return text }, " a "}, {notEmpty(&text, "name one"), " ", nil, "it is empty: name one"},
	} {
		err := c.flag.Set(c.text)
		got := ""
		if err != nil {
			got = err.Error()
		} else if c.is != nil {
			got = fmt.Sprint(c.is())
		}
		if got != c.want || (err == nil) != (c.is != nil) {
			t.Errorf("%s %q: %s, want %s", c.flag.Type(), c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"0:0": "0 0", "2147483647:9223372036854775807": "2147483647 9223372036854775807",
		"2147483648:0": "", "0:9223372036854775808": "", "0": "", "0:": "", ":0": "", "-1:0": "", "0:-1": "", "x:0": "", "0:x": "",
	} {
		p, err := place(text)
		got := fmt.Sprint(p.Partition, " ", p.Offset)
		if err != nil {
			got = ""
			if said := fmt.Sprintf("%q is not PARTITION:OFFSET, such as 0:4711; a consumer is named by --consumer", text); err.Error() != said {
				t.Errorf("%v, want %s", err, said)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What replay and discard are about is said in one way: by places, by a selection, or all.
func TestOneWaySaysWhichLettersAreMeant(t *testing.T) {
	const selects = "--class, --event, --error, --record-key or --all"
	for _, c := range []struct {
		flags askFlags
		args  string
		want  string
	}{
		{askFlags{}, "", "want TOPIC as in the spec, and which letters to replay"},
		{askFlags{}, "t", "say which letters to replay: PARTITION:OFFSET, or " + selects},
		{askFlags{}, "t 0:1 3", `"3" is not PARTITION:OFFSET, such as 0:4711; a consumer is named by --consumer`},
		{askFlags{}, "t 0:1 2:3", "[{ t  0 1} { t  2 3}]"},
		{askFlags{all: true}, "t", "[]"}, {askFlags{all: true}, "t 0:1", "either PARTITION:OFFSET, or " + selects},
		{askFlags{letters: operate.Selection{Class: "x"}}, "t", "[]"}, {askFlags{letters: operate.Selection{Class: "x"}}, "t 0:1", "either PARTITION:OFFSET, or " + selects},
		{askFlags{letters: operate.Selection{Event: "x"}}, "t", "[]"}, {askFlags{letters: operate.Selection{Error: "x"}}, "t", "[]"},
		{askFlags{letters: operate.Selection{Former: true}}, "t", "[]"}, {askFlags{letters: operate.Selection{RecordKey: "x"}}, "t", "[]"}, {askFlags{letters: operate.Selection{RecordKey: "x"}}, "t 0:1", "either PARTITION:OFFSET, or " + selects},
		{askFlags{letters: operate.Selection{Exact: true, Event: "x"}}, "t", "--exact selects a group: give its --class"}, {askFlags{letters: operate.Selection{Exact: true, Class: "x"}}, "t", "[]"},
		{askFlags{erase: true}, "t", "--erase applies to a record key: give --record-key"}, {askFlags{erase: true, letters: operate.Selection{RecordKey: "x"}}, "t", "[]"},
		{askFlags{erase: true, letters: operate.Selection{RecordKey: "x"}}, "t 0:1", "--erase applies to a record key: name no letters with it"},
		{askFlags{erase: true, all: true, letters: operate.Selection{RecordKey: "x"}}, "t", "--erase applies to a record key: name no letters with it"},
		{askFlags{result: "{}"}, "t 0:1", "[{ t  0 1}]"}, {askFlags{result: "{}"}, "t 0:1 0:2", "--result applies to one letter: name it by PARTITION:OFFSET"}, {askFlags{result: "{}", all: true}, "t", "--result applies to one letter: name it by PARTITION:OFFSET"},
	} {
		f := c.flags
		f.verb = "replay"
		err := f.parse(strings.Fields(c.args))
		got := fmt.Sprint(f.places)
		if err != nil {
			got = err.Error()
		} else if f.letters.Topic != "t" {
			t.Errorf("%+v: topic %q", c.flags, f.letters.Topic)
		}
		if got != c.want {
			t.Errorf("%+v %q: %s, want %s", c.flags, c.args, got, c.want)
		}
		if text := string(f.json()); text != c.flags.result {
			t.Errorf("the result is %q", text)
		}
	}
	if (&askFlags{}).json() != nil {
		t.Error("no result is one")
	}
}

// Bytes that are no text are shown as such, blanks are seen, and long texts are cut.
func TestTextsAreShown(t *testing.T) {
	text := func(s string) *operate.Bytes { return &operate.Bytes{Text: &s} }
	long := strings.Repeat("é", 240)
	for _, c := range []struct{ got, want string }{
		{short(long), long}, {short(long + "x"), long + " ..."},
		{bytesText(nil), "none"}, {bytesText(&operate.Bytes{Hex: "ff01"}), "hex:ff01"}, {bytesText(text("a b")), "a b"}, {bytesText(text("a ")), `"a "`},
		{window(48 * time.Hour), "2d"}, {window(36 * time.Hour), "36h0m0s"},
		{advice("idemgen stream list"), "          idemgen stream list"}, {advice("wait"), "          wait"},
		{advice("idemgen " + strings.Repeat("long ", 30)), "          idemgen " + strings.Repeat("long ", 30)},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The list of partitions is by topics, the former ones last, with a line for each process that has
// some of them.
func TestPartitionsAreListedByTopics(t *testing.T) {
	at := func(consumer, topic string, partition int32, id string, former bool, owner, state string) operate.Status {
		s := operate.Status{Stream: 1, Name: operate.Name{Consumer: consumer, Topic: topic, Partition: partition, TopicID: id}, Former: former}
		if owner != "" {
			s.Reported = &operate.Reported{Process: owner}
			s.Reported.State, s.Reported.Lag = state, int64(partition)-1
		}
		return s
	}
	none := at("c", "t", 7, "", false, "p1", "HALTED")
	none.Stream = 0
	silent := at("c", "t", 4, "id", false, "p3", "READY")
	silent.Reported.Silent = true
	list := streams{Streams: []operate.Status{
		at("c", "t", 0, "old", true, "p1", "READY"), at("c", "t", 0, "id", false, "p1", "READY"), at("c", "t", 1, "id", false, "p2", "BACKOFF"), at("c", "t", 2, "id", false, "p1", "READY"),
		at("c", "t", 3, "id", false, "", ""), silent, none, at("c", "u", 0, "id", false, "p1", "READY"), at("b", "t", 0, "id", false, "p1", "READY"),
	}}
	var got []string
	for _, topic := range list.Topics() {
		got = append(got, strings.ReplaceAll(topic.Head, "\n", ", "))
		for _, s := range topic.Streams {
			got = append(got, fmt.Sprint("  ", s.Partition, " ", stateOf(s), " ", lagOf(s), " ", missing(s)))
		}
		got = append(got, topic.Owners()...)
	}
	want := []string{
		"t of b, topic id id", "  0 READY - gone", "at p1: 0",
		"t of c, topic id not known: without a ledger", "  7 HALTED 6 none", "at p1: 7",
		"t of c, topic id id", "  0 READY - gone", "  1 BACKOFF 0 gone", "  2 READY 1 gone", "  3 not known - gone", "  4 not known - gone", "at p1: 0, 2", "at p2: 1",
		"t of c, topic id old (former)", "  0 - - gone",
		"u of c, topic id id", "  0 READY - gone", "at p1: 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
