package operate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/halt"
)

// Severity says who acts about a problem.
type Severity string

// The severities, the worst first. Fine is that of a partition without a problem.
const (
	Urgent   Severity = "urgent"  // only an operator can help
	NotKnown Severity = "unknown" // no process reports it
	Passing  Severity = "passing" // the service retries by itself, or an operator paused it
	Notice   Severity = "notice"  // nothing is held up: read it
	Fine     Severity = "fine"
)

// Rank orders severities, the worst first.
func (s Severity) Rank() int {
	return slices.Index([]Severity{Urgent, NotKnown, Passing, Notice, Fine}, s)
}

// Subject says what a problem is about.
type Subject string

// The subjects.
const (
	OfService    Subject = "service"    // all processes of a consumer
	OfProcess    Subject = "process"    // a process as a whole
	OfRelay      Subject = "relay"      // of the outbox
	OfPartitions Subject = "partitions" // partitions of topics
	OfLetters    Subject = "letters"
	OfEffects    Subject = "effects"
	OfOutbox     Subject = "outbox"
	OfDatabase   Subject = "database"
)

// Problem is one thing that is wrong with a service. Console, doctor and stream list show it in
// the same words.
type Problem struct {
	Part       string    `json:"-"` // of the state, that could not be read; else ""
	Severity   Severity  `json:"severity"`
	Subject    Subject   `json:"subject"`
	Code       string    `json:"code"`
	State      string    `json:"state"`      // a word for it in capitals, such as HALTED
	Title      string    `json:"title"`      // such as "3 partitions halted"
	Consumer   string    `json:"consumer"`   // "" if it is about several, or none
	Partitions []Status  `json:"-"`          // that have the problem
	Names      []Name    `json:"partitions"` // of Partitions
	Processes  []string  `json:"processes"`  // their names
	Since      time.Time `json:"since"`      // zero if it is not known
	Cause      string    `json:"cause"`
	Happened   string    `json:"happened"` // what the code means; "" if the cause says all
	Costs      string    `json:"costs"`    // while it lasts
	Check      string    `json:"check"`    // before anything is done; "" for nothing
	Do         string    `json:"do"`       // in words; "" if Ways say all
	Ways       []Exit    `json:"ways"`
	Mended     string    `json:"mended"` // how it looks then

	locks []string // that cause it, and who holds them; nil for another cause
}

// Exit is a way out of a problem that one can take as it is: a command, or a statement for psql.
type Exit struct {
	Command string    `json:"command"`
	Costs   string    `json:"costs"`
	Other   bool      `json:"other"` // it is not the first choice
	Way     *halt.Way `json:"-"`     // which the console takes itself; nil if it does not
}

// Text is the problem in a line: its state or title, code, beginning and cause.
func (p *Problem) Text() string {
	if p.Subject == OfPartitions {
		return p.State + ", " + p.Said()
	}
	return p.Title + ", " + p.Said()
}

// Said is Text without the state or title.
func (p *Problem) Said() string {
	text := p.Code
	if !p.Since.IsZero() {
		text += " since " + p.Since.UTC().Format(time.RFC3339)
	}
	return text + ": " + p.Cause
}

// Advice is what to do, in words and commands, a line each.
func (p *Problem) Advice() (lines []string) {
	if p.Do != "" {
		lines = append(lines, p.Do)
	}
	said := ""
	for _, e := range p.Ways {
		if e.Other && e.Costs != said {
			said = e.Costs
			lines = append(lines, "or, where "+said+":")
		}
		lines = append(lines, e.Command)
	}
	return lines
}

// Pasted are the ways that the console does not take itself: commands, and statements for psql.
func (p *Problem) Pasted() (all []Exit) {
	for _, e := range p.Ways {
		if e.Way == nil {
			all = append(all, e)
		}
	}
	return all
}

// Where names the partitions of a problem: "orders.v1/0, 3 and payments.v1/1".
func (p *Problem) Where() string {
	numbers := map[string][]int32{}
	for _, s := range p.Partitions {
		numbers[s.Topic] = append(numbers[s.Topic], s.Partition)
	}
	var topics []string
	for _, topic := range slices.Sorted(maps.Keys(numbers)) {
		topics = append(topics, topic+"/"+Ranges(numbers[topic]))
	}
	return strings.Join(topics, " and ")
}

// Ranges writes ascending numbers: "0-3, 7".
func Ranges(numbers []int32) string {
	var parts []string
	for i := 0; i < len(numbers); {
		first := numbers[i]
		last := first
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		part := fmt.Sprint(first)
		if last > first {
			part = fmt.Sprintf("%d-%d", first, last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// judge says what is wrong, the worst first.
func (s *State) judge() (all []Problem) {
	gone := s.gone()
	all = append(all, gone...)
	all = append(all, s.wholes()...)
	all = append(all, s.partitions(gone)...)
	all = append(all, s.letters()...)
	all = append(all, s.calls()...)
	all = append(all, s.events()...)
	all = s.byLock(append(all, s.notices(gone)...))
	s.escalate(all)
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
	for i := range all {
		all[i].Names, all[i].Ways = []Name{}, append([]Exit{}, all[i].Ways...)
		all[i].Processes = append([]string{}, all[i].Processes...)
		if strings.Contains(all[i].Cause, `"idem_outbox" does not exist`) {
			all[i].Ways = append(all[i].Ways, Exit{Command: "idemgen outbox migration", Costs: "prints the SQL that creates the table: apply it before you resume"})
		}
		for _, t := range all[i].Partitions {
			all[i].Names = append(all[i].Names, t.Name)
		}
	}
	return all
}

// standstill is how long a consumer may make no progress before that is urgent.
const standstill = 30 * time.Second

// escalates are the codes of whole processes that do not pass by themselves.
var escalates = []string{process.TopicMissing, "credentials", "tls"}

// escalate makes problems urgent that last: if no partition of their consumer makes progress, or
// if only a person can end them.
func (s *State) escalate(all []Problem) {
	works := map[string]bool{}
	for _, t := range s.Streams {
		if severity, _, _ := t.Now(); severity.Works() && !t.Former {
			works[t.Consumer] = true
		}
	}
	for i := range all {
		p := &all[i]
		about := p.Subject == OfPartitions || p.Subject == OfProcess
		if !about || p.Severity != Passing || p.State == halt.Paused.State() || s.At.Sub(p.Since) < standstill {
			continue
		}
		if !works[p.Consumer] || p.locks != nil || slices.Contains(escalates, p.Code) {
			p.Severity = Urgent
		}
	}
}
