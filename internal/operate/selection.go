package operate

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/internal/record"
)

// Selection selects open letters: dead ones, and records parked behind them. "" and zero mean any.
// Lists, counts and requests of one selection are about the same letters.
type Selection struct {
	Consumer string
	Topic    string
	Class    string // of the reason
	Event    string // by its name in Go
	Error    string // is contained in the reason, with # for any text, as [Group] has it
	// Exact selects one [Group]: Class, Event and Error are its own, and "" means that it has none.
	Exact     bool
	RecordKey string // as text
	Through   Mark   // no letter that came after this one
}

// Mark is the place of a letter in the order in which letters came. The zero Mark is the end.
type Mark struct {
	At          time.Time
	Stream      int32
	Offset, Seq int64
}

// Mark returns the letter's mark.
func (l *Letter) Mark() Mark { return Mark{l.CreatedAt, l.stream, l.Offset, l.Seq} }

const (
	// selectedSQL is the condition of a selection, but for consumer, topic and Through.
	selectedSQL = `
($7::text = '' OR starts_with(d.reason, $7::text || ':')) AND ($8::text = '' OR d.event = $8::text)
  AND ($9::text = '' OR d.reason LIKE $9::text)
  AND ($10::uuid IS NULL OR d.order_key = $10::uuid)`

	// newestSQL selects the newest open letters of each stream, of all streams searched in all, as
	// far as all streams were read: bound is where the first of them was read no further. A stream
	// is read by an index in the order in which its letters came.
	newestSQL = `
WITH streams AS MATERIALIZED (
    SELECT stream FROM idem_stream WHERE ($1::text = '' OR consumer = $1::text) AND ($2::text = '' OR topic = $2::text)
), share AS (SELECT greatest(100, 5000 / greatest(count(*), 1)) AS n FROM streams
), read AS MATERIALIZED (
    SELECT l.*, row_number() OVER (PARTITION BY l.stream ORDER BY l.created_at DESC, l.offs DESC, l.seq DESC) AS n
    FROM streams s, LATERAL (
        SELECT d.stream, d.created_at, d.offs, d.seq, d.state, d.reason, d.event, d.order_key, d.asked, d.answer, d.record IS NULL AS gone,
            d.result IS NOT NULL AS called
        FROM idem_dead_letter d
        WHERE d.stream = s.stream AND d.state IN ('d', 'w') AND d.created_at <= $3::timestamptz
          AND (d.created_at, d.stream, d.offs, d.seq) <= ($3::timestamptz, $4::int, $5::bigint, $6::bigint)
        ORDER BY d.created_at DESC, d.offs DESC, d.seq DESC LIMIT (SELECT n FROM share)) l
), bound AS MATERIALIZED (
    SELECT r.created_at, r.stream, r.offs, r.seq FROM read r, share WHERE r.n = share.n
    ORDER BY r.created_at DESC, r.stream DESC, r.offs DESC, r.seq DESC LIMIT 1
), newest AS (
    SELECT r.* FROM read r WHERE NOT EXISTS (SELECT FROM bound b WHERE (r.created_at, r.stream, r.offs, r.seq) < (b.created_at, b.stream, b.offs, b.seq))
)`

	// foundSQL selects what a selection needs of the newest letters, and of all parked ones among
	// them, and the bound.
	foundSQL = newestSQL + `
SELECT d.created_at, d.stream, d.offs, d.seq, d.reason, coalesce(d.event, ''), d.state = 'w', d.asked IS NOT NULL, d.gone, ` + callsAgainSQL + `,
    d.created_at > clock_timestamp() - interval '1 hour', coalesce(d.order_key, '00000000-0000-0000-0000-000000000000'), s.consumer, s.topic,
    coalesce(` + selectedSQL + `, false), b.stream IS NOT NULL
FROM newest d JOIN idem_stream s USING (stream) LEFT JOIN bound b ON b.stream = d.stream AND b.offs = d.offs AND b.seq = d.seq
WHERE d.state = 'w' OR b.stream IS NOT NULL OR ` + selectedSQL + `
ORDER BY d.created_at DESC, d.stream DESC, d.offs DESC, d.seq DESC`

	// callsAgainSQL is the condition for letters whose replay calls an effect again although its
	// first call may have succeeded.
	callsAgainSQL = `(starts_with(d.reason, 'interrupted:') AND NOT d.called OR starts_with(coalesce(d.answer, ''), 'interrupted:'))`
)

// args are the parameters of statements with newestSQL and selectedSQL. Of an exact selection they
// select too much: has decides.
func (s *Selection) args(before Mark) []any {
	key, text := any(nil), pattern(s.Error)
	if s.RecordKey != "" {
		key = record.OrderKey([]byte(s.RecordKey))
	}
	if s.Exact {
		text = ""
	}
	return append(s.place(before), s.Class, s.Event, text, key)
}

// has reports whether an exact selection has a letter with a reason and an event.
func (s *Selection) has(reason, event string) bool {
	if !s.Exact {
		return true
	}
	class, rest := split(reason, event)
	return class == s.Class && event == s.Event && Common(rest) == s.Error
}

// found is what a selection needs of a letter.
type found struct {
	Mark
	reason, event                         string
	waits, asked, gone, calls, recent, is bool // is: it is one of the selection
	key                                   [16]byte
	consumer, topic                       string
}

// find returns the newest letters of a selection before a mark, and the parked ones among those
// that were searched. bound is the mark of the oldest letter that was searched; nil if all were.
func (s *Selection) find(ctx context.Context, db DB, before Mark) (all []found, bound *Mark, err error) {
	all, err = query(ctx, db, func(row pgx.CollectableRow) (f found, err error) {
		last := false
		err = row.Scan(&f.At, &f.Stream, &f.Offset, &f.Seq, &f.reason, &f.event, &f.waits, &f.asked, &f.gone, &f.calls, &f.recent, &f.key, &f.consumer, &f.topic, &f.is, &last)
		if last {
			bound = &Mark{f.At.UTC(), f.Stream, f.Offset, f.Seq}
		}
		f.is = f.is && s.has(f.reason, f.event)
		return f, err
	}, foundSQL, s.args(before)...)
	return slices.DeleteFunc(all, func(f found) bool { return !f.waits && !f.is }), bound, err
}

// place are the parameters of newestSQL: letters before a mark, or up to Through.
func (s *Selection) place(before Mark) []any {
	end := s.Through
	if before != (Mark{}) {
		end = before
		end.Seq-- // seq is the last column of the order
	}
	at := pgtype.Timestamptz{Time: end.At, Valid: true}
	if end == (Mark{}) {
		at.InfinityModifier = pgtype.Infinity
	}
	return []any{s.Consumer, s.Topic, at, end.Stream, end.Offset, end.Seq}
}

// LetterPage is a part of the letters of a selection, the newest first.
type LetterPage struct {
	Letters []Letter `json:"dead_letters"`
	// Next is the mark before which the list continues; nil at its end. There may be no letter
	// before it: it is only the end of what was searched.
	Next *Mark `json:"next"`
}

// Page lists at most limit letters that came before a mark; the zero Mark means the newest ones.
// It searches the newest 5,000 letters before the mark.
func Page(ctx context.Context, db DB, s Selection, before Mark, limit int) (p LetterPage, err error) {
	all, bound, err := s.find(ctx, db, before)
	all = slices.DeleteFunc(all, func(f found) bool { return !f.is })
	if err != nil {
		return p, err
	}
	more := len(all) > limit
	var of []Letter
	for _, f := range all[:min(len(all), limit)] {
		of = append(of, Letter{Place: Place{Offset: f.Offset}, Seq: f.Seq, stream: f.Stream})
	}
	if len(of) > 0 { // one that was removed meanwhile is left out
		if p.Letters, err = letters(ctx, db, theseSQL, places(of)...); err != nil {
			return p, err
		}
	}
	if more {
		p.Next = &all[limit-1].Mark
		return p, nil
	}
	p.Next = bound
	return p, nil
}

// Group is dead letters that have a class, an event and an error in common.
type Group struct {
	Cause              // Reason has # for each number and each quoted text
	Count    int       `json:"count"`
	Waiting  int       `json:"waiting"`   // records that are parked behind them, not counted by Count
	Asked    int       `json:"asked"`     // of them: with a pending request
	Recent   int       `json:"last_hour"` // of them: from the last hour
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Consumer string    `json:"consumer"` // "" if they are from several
	Topic    string    `json:"topic"`    // "" if they are from several
}

// Groups are the letters of a selection by what they have in common.
type Groups struct {
	Groups []Group `json:"groups"` // the largest first, at most 100
	More   bool    `json:"more"`   // there are smaller ones
	Older  *Mark   `json:"older"`  // letters before it were not counted; nil if all were
}

// parked identifies the letters that wait for one another: those of a record key in a stream.
type parked struct {
	stream int32
	key    [16]byte
}

// GroupsOf returns the groups of the newest 5,000 letters of a selection.
func GroupsOf(ctx context.Context, db DB, s Selection) (g Groups, err error) {
	all, older, err := s.find(ctx, db, Mark{})
	if err != nil {
		return g, err
	}
	g.Older = older
	groups, first := map[Cause]*Group{}, map[parked]*Group{}
	for i := len(all) - 1; i >= 0; i-- { // the oldest first: later records of a key wait behind it
		f := &all[i]
		if f.waits {
			continue
		}
		c := Cause{Event: f.event}
		c.Class, c.Reason = split(f.reason, f.event)
		c.Reason = Common(c.Reason)
		group := groups[c]
		if group == nil {
			group = &Group{Cause: c, First: f.At.UTC(), Last: f.At.UTC(), Consumer: f.consumer, Topic: f.topic}
			groups[c] = group
		}
		if f.key != [16]byte{} {
			first[parked{f.Stream, f.key}] = group
		}
		group.add(f)
	}
	for i := range all {
		if f := &all[i]; f.waits {
			if group := first[parked{f.Stream, f.key}]; group != nil {
				group.Waiting++
			}
		}
	}
	for _, of := range groups {
		g.Groups = append(g.Groups, *of)
	}
	slices.SortFunc(g.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.Text(), b.Text()))
	})
	if g.More = len(g.Groups) > 100; g.More {
		g.Groups = g.Groups[:100]
	}
	return g, nil
}

func (g *Group) add(f *found) {
	g.Count++
	if f.asked {
		g.Asked++
	}
	if f.recent {
		g.Recent++
	}
	if g.Consumer != f.consumer {
		g.Consumer = ""
	}
	if g.Topic != f.topic {
		g.Topic = ""
	}
	g.Last = f.At.UTC()
}

// differs matches what differs between reasons of one cause: quoted texts, UUIDs and numbers. A
// status, an SQLSTATE and the size of a type, in the first group, do not.
var differs = regexp.MustCompile(`\b(status [0-9]{3}\b|SQLSTATE [0-9A-Z]{5}\b|numeric\([0-9]+,-?[0-9]+\))|"[^"]*"|'[^']*'|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b|[0-9]+(?:[.:-][0-9]+)*`)

// Common returns the part of a reason that is the same for all that has one cause, with # for each
// number and each quoted text, at most 300 characters.
func Common(reason string) string {
	common := differs.ReplaceAllStringFunc(reason, func(found string) string {
		if keeps := differs.FindStringSubmatch(found); keeps[1] != "" {
			return found
		}
		return "#"
	})
	return shorten(common, 300)
}

// shorten returns the first characters of a text.
func shorten(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}

// pattern returns a condition for LIKE that a text is contained, with # for any text.
func pattern(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.ReplaceAll(literal(text), "#", "%") + "%"
}

// literal returns a text for LIKE that means itself.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text)
}

// Count says how many letters of a selection there are, by what a request does with them.
type Count struct {
	Free    int   // dead, without a request
	Asked   int   // dead, with a pending request
	Waiting int   // parked behind another one: their turn comes by itself
	Calls   int   // of Free: a replay would repeat a call that may have succeeded
	Gone    int   // of Free: the record is not kept, so it can only be discarded
	Former  int   // of Free: the topic was made again, so they can only be discarded
	Older   *Mark // letters before it were not counted; nil if all were
}

// CountOf counts the newest 5,000 letters of a selection.
func CountOf(ctx context.Context, db DB, s Selection) (c Count, err error) {
	all, older, err := s.find(ctx, db, Mark{})
	if err != nil {
		return c, err
	}
	c.Older = older
	former, err := formerStreams(ctx, db)
	for i := range all {
		switch f := &all[i]; {
		case !f.is:
		case f.waits:
			c.Waiting++
		case f.asked:
			c.Asked++
		default:
			c.Free++
			switch {
			case former[f.Stream]:
				c.Former++
			case f.calls:
				c.Calls++
			case f.gone:
				c.Gone++
			}
		}
	}
	return c, err
}

// pattern is the condition on the reason. Of an exact filter it is none: exactly decides.
func (f *Filter) pattern() string {
	if f.Exact {
		return ""
	}
	return pattern(f.Error)
}

// exactly leaves out the letters of other groups than an exact filter names.
func (f *Filter) exactly(all []Letter) []Letter {
	if !f.Exact {
		return all
	}
	return slices.DeleteFunc(all, func(l Letter) bool {
		return l.Class != f.Class || l.Event != f.Event || Common(l.Reason) != f.Error
	})
}
