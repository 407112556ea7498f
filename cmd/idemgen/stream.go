package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/stream"
)

// streamCall is one call of idemgen stream, parsed.
type streamCall struct {
	verb     *streamVerb
	database string
	json     bool
	name     stream.Name
	by       stream.By

	all        bool
	places     map[int32]int64 // of --to PARTITION:OFFSET
	partition  int             // -1: not given
	partitions int
	to, from   int64
	older      bool
	applyAgain bool
	fewer      bool
}

// streamVerb is a command of idemgen stream.
type streamVerb struct {
	name  string
	about string
	flags string // beside --database and --json; a star marks those that must be given
	run   func(ctx context.Context, db stream.DB, s *streamCall) (result, error)
}

// result is what a command prints: as JSON, or as text for people.
type result interface{ text() string }

func streamVerbs() []streamVerb {
	const change = " consumer* topic* topic-id reason* operator dry-run"
	return []streamVerb{
		{"list", "show the ledger of every partition", "consumer", listStreams},
		{"confirm-partitions", "the topic may have COUNT partitions", "partition partitions* fewer" + change, confirmPartitions},
		{"adopt", "begin a ledger at an offset, where there is none", "partition to* partitions" + strings.Replace(change, "topic-id", "topic-id*", 1), adopt},
		{"skip", "move forward: the offsets up to OFFSET pass without effect", "partition* from to*" + change, skip},
		{"rewind", "move back: what is read again may take effect again", "partition* from to* apply-again" + change, rewind},
		{"release", "the cause is gone: try again", "partition all older-version-may-run" + change, release},
	}
}

// streams lists and changes the ledgers in a database.
func streams(ctx context.Context, c *call) int {
	s, code, ok := c.parseStream()
	if !ok {
		return code
	}
	db, err := s.connect(ctx)
	if err != nil {
		return c.fail(err)
	}
	defer db.Close()
	r, err := s.verb.run(ctx, db, s)
	if failed := c.print(r, s.json); err == nil { // what was done before an error is printed, too
		err = failed
	}
	if err != nil {
		return c.fail(s.mask(err))
	}
	return done
}

// parseStream parses verb and flags. If ok is false, code is the exit code.
func (c *call) parseStream() (s *streamCall, code int, ok bool) {
	var names []string
	var verb *streamVerb
	for _, v := range streamVerbs() {
		names = append(names, v.name)
		if len(c.args) > 0 && c.args[0] == v.name {
			verb = &v
		}
	}
	if verb == nil {
		if len(c.args) > 0 && slices.Contains([]string{"-h", "-help", "--help", "help"}, c.args[0]) {
			fmt.Fprint(c.stdout, helpText("stream"))
			return nil, done, false
		}
		return nil, c.fail(fmt.Errorf("stream needs a command: %s; see idemgen help stream", strings.Join(names, "|"))), false
	}
	c.args = c.args[1:]
	s = &streamCall{verb: verb}
	given := map[string]bool{}
	var flags *flag.FlagSet
	rest, code, ok := c.parse("stream "+verb.name, func(f *flag.FlagSet) {
		flags = f
		s.define(f)
	})
	if !ok {
		return nil, code, false
	}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := s.check(rest, given); err != nil {
		return nil, c.fail(fmt.Errorf("stream %s: %w; see idemgen help stream %s", verb.name, err, verb.name)), false
	}
	return s, done, true
}

// define makes the flags that the verb has.
func (s *streamCall) define(f *flag.FlagSet) {
	f.StringVar(&s.database, "database", os.Getenv("DATABASE_URL"), "")
	f.BoolVar(&s.json, "json", false, "")
	s.partition, s.from = -1, -1
	for name := range strings.FieldsSeq(strings.ReplaceAll(s.verb.flags, "*", "")) {
		switch name {
		case "consumer":
			f.StringVar(&s.name.Consumer, name, "", "")
		case "topic":
			f.StringVar(&s.name.Topic, name, "", "")
		case "topic-id":
			f.StringVar(&s.name.TopicID, name, "", "")
		case "partition":
			f.IntVar(&s.partition, name, -1, "")
		case "partitions":
			f.IntVar(&s.partitions, name, 0, "")
		case "from":
			f.Int64Var(&s.from, name, -1, "")
		case "to":
			f.Func(name, "", s.setTo)
		case "older-version-may-run":
			f.BoolVar(&s.older, name, false, "")
		case "apply-again":
			f.BoolVar(&s.applyAgain, name, false, "")
		case "all":
			f.BoolVar(&s.all, name, false, "")
		case "fewer":
			f.BoolVar(&s.fewer, name, false, "")
		case "reason":
			f.StringVar(&s.by.Reason, name, "", "")
		case "operator":
			f.StringVar(&s.by.Operator, name, os.Getenv("USER"), "")
		case "dry-run":
			f.BoolVar(&s.by.DryRun, name, false, "")
		}
	}
}

// check refuses what is missing or cannot be.
func (s *streamCall) check(rest []string, given map[string]bool) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is no flag", rest[0])
	}
	var missing []string
	for name := range strings.FieldsSeq(s.verb.flags) {
		if name, must := strings.CutSuffix(name, "*"); must && !given[name] {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s missing", strings.Join(missing, ", "))
	}
	const most = 1<<31 - 1
	for name, value := range map[string]int{"partition": s.partition, "partitions": s.partitions} {
		if given[name] && (value < 0 || value > most) {
			return fmt.Errorf("--%s %d cannot be", name, value)
		}
	}
	for name, offset := range map[string]int64{"from": s.from, "to": s.to} {
		if given[name] && offset < 0 {
			return fmt.Errorf("--%s %d: there is no such offset", name, offset)
		}
	}
	if err := s.agree(given); err != nil {
		return err
	}
	if s.database == "" {
		return fmt.Errorf("--database or $DATABASE_URL missing")
	}
	s.name.Partition = int32(s.partition)
	return nil
}
