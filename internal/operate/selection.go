package operate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Selection selects open letters: dead ones, and records parked behind them. "" and zero mean any.
// Lists, counts and requests of one selection are about the same letters, whether a page or a
// command has it.
type Selection struct {
	Consumer string
	Topic    string
	Class    string // of the reason
	Event    string // by its name in Go
	Error    string // is contained in the reason, with # for any text, as [Group] has it
	// Exact selects one [Group]: Class, Event and Error are its own, and "" means that it has
	// none.
	Exact     bool
	RecordKey string // as [KeyName] has it
	Through   Mark   // no letter that came after this one
	Closed    bool   // also letters that were replayed or discarded; requests have no use for it
	// Former selects letters of topics that were made again. A group has either those or others.
	Former bool
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
        SELECT d.stream, d.created_at, d.offs, d.seq, d.state, d.reason, d.event, d.order_key, d.version, d.asked, d.asked_at, d.answer, d.record IS NULL AS gone,
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
	foundSQL = newestSQL + foundColumnsSQL + `, b.stream IS NOT NULL
FROM newest d JOIN idem_stream s USING (stream) LEFT JOIN bound b ON b.stream = d.stream AND b.offs = d.offs AND b.seq = d.seq
WHERE d.state = 'w' OR b.stream IS NOT NULL OR ` + selectedSQL + `
ORDER BY d.created_at DESC, d.stream DESC, d.offs DESC, d.seq DESC`

	// partSQL selects the same of the next letters of one stream, in the order in which they came.
	partSQL = foundColumnsSQL + `, false
FROM (SELECT *, record IS NULL AS gone, result IS NOT NULL AS called FROM idem_dead_letter
    WHERE stream = $1::int AND state IN ('d', 'w') AND created_at BETWEEN $2::timestamptz AND $5::timestamptz
      AND (created_at, offs, seq) > ($2::timestamptz, $3::bigint, $4::bigint)
      AND (created_at, stream, offs, seq) <= ($5::timestamptz, $6::int, $11::bigint, $12::bigint)
    ORDER BY created_at, offs, seq LIMIT 2000) d JOIN idem_stream s USING (stream)
ORDER BY d.created_at, d.offs, d.seq`

	foundColumnsSQL = `
SELECT d.created_at, d.stream, d.offs, d.seq, d.reason, coalesce(d.event, ''), d.state = 'w', d.asked IS NOT NULL, coalesce(d.asked_at, d.created_at), d.gone, ` + callsAgainSQL + `,
    d.created_at > clock_timestamp() - interval '1 hour', coalesce(d.order_key, '00000000-0000-0000-0000-000000000000'), s.consumer, s.topic, coalesce(d.version, ''),
    coalesce(` + selectedSQL + `, false)`

	selectedStreamsSQL = `SELECT stream FROM idem_stream WHERE ($1::text = '' OR consumer = $1::text) AND ($2::text = '' OR topic = $2::text) ORDER BY 1`

	// callsAgainSQL is the condition for letters whose replay calls an effect again although its
	// first call may have succeeded.
	callsAgainSQL = `(starts_with(d.reason, 'interrupted:') AND NOT d.called OR starts_with(coalesce(d.answer, ''), 'interrupted:'))`
)

// args are the parameters of statements with newestSQL and selectedSQL. Of an exact selection they
// select too much: has decides.
func (s *Selection) args(before Mark) ([]any, error) {
	key, text := any(nil), pattern(s.Error)
	if s.RecordKey != "" {
		hash, err := orderKey(s.RecordKey)
		if err != nil {
			return nil, err
		}
		key = hash
	}
	if s.Exact {
		text = ""
	}
	return append(s.place(before), s.Class, s.Event, text, key), nil
}

// has reports whether a selection has a letter that its statement selected.
func (s *Selection) has(f *found) bool {
	if !s.Exact {
		return f.former || !s.Former
	}
	class, rest := split(f.reason, f.event)
	return class == s.Class && f.event == s.Event && f.former == s.Former && Common(rest) == s.Error
}

// found is what a selection needs of a letter.
type found struct {
	Mark
	reason, event                         string
	waits, asked, gone, calls, recent, is bool // is: it is one of the selection
	key                                   [16]byte
	askedAt                               time.Time
	consumer, topic, version              string
	former, last                          bool // last: it is the oldest one that was searched
}

// letter is the letter by what identifies it.
func (f *found) letter() Letter {
	return Letter{Place: Place{Offset: f.Offset}, Seq: f.Seq, stream: f.Stream}
}

// find returns the newest letters of a selection before a mark, and the parked ones among those
// that were searched. bound is the mark of the oldest letter that was searched; nil if all were.
func (s *Selection) find(ctx context.Context, db DB, before Mark) (all []found, bound *Mark, err error) {
	former, err := formerStreams(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	args, err := s.args(before)
	if err != nil {
		return nil, nil, err
	}
	all, err = s.read(ctx, db, former, s.searched(foundSQL), args...)
	for i := range all {
		if f := &all[i]; f.last {
			bound = &Mark{f.At.UTC(), f.Stream, f.Offset, f.Seq}
		}
	}
	return slices.DeleteFunc(all, func(f found) bool { return !f.waits && !f.is }), bound, err
}

// each calls do for all letters of a selection, stream by stream, some thousand at a time. Parked
// letters and those of other selections may be among them.
func (s *Selection) each(ctx context.Context, db DB, do func([]found) error) error {
	former, err := formerStreams(ctx, db)
	if err != nil {
		return err
	}
	streams, err := query(ctx, db, pgx.RowTo[int32], selectedStreamsSQL, s.Consumer, s.Topic)
	if err != nil {
		return err
	}
	of, err := s.args(Mark{})
	if err != nil {
		return err
	}
	for _, stream := range streams {
		for from := (Mark{}); ; {
			args := append([]any{stream, from.At, from.Offset, from.Seq, of[2], of[3]}, of[6:]...)
			part, err := s.read(ctx, db, former, partSQL, append(args, of[4], of[5])...)
			if err == nil && len(part) > 0 {
				from = part[len(part)-1].Mark
				err = do(part)
			}
			if err != nil {
				return err
			}
			if len(part) == 0 {
				break
			}
		}
	}
	return nil
}

// read reads letters by a statement with foundColumnsSQL.
func (s *Selection) read(ctx context.Context, db DB, former map[int32]bool, sql string, args ...any) ([]found, error) {
	return query(ctx, db, func(row pgx.CollectableRow) (f found, err error) {
		err = row.Scan(&f.At, &f.Stream, &f.Offset, &f.Seq, &f.reason, &f.event, &f.waits, &f.asked, &f.askedAt, &f.gone, &f.calls, &f.recent, &f.key, &f.consumer, &f.topic, &f.version, &f.is, &f.last)
		f.former = former[f.Stream]
		f.is = f.is && s.has(&f)
		return f, err
	}, sql, args...)
}

// searched is a statement with newestSQL that searches closed letters too if the selection has
// them. No index is for these.
func (s *Selection) searched(sql string) string {
	if s.Closed {
		return strings.ReplaceAll(sql, " AND d.state IN ('d', 'w')", "")
	}
	return sql
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
	Letters []Letter
	// Next is the mark before which the list continues; nil at its end. There may be no letter
	// before it: it is only the end of what was searched.
	Next *Mark
}

// Page lists at most limit letters that came before a mark; the zero Mark means the newest ones.
// It searches the newest 5,000 letters before the mark.
func Page(ctx context.Context, db DB, s Selection, before Mark, limit int) (LetterPage, error) {
	all, bound, err := s.find(ctx, db, before)
	if err != nil {
		return LetterPage{}, err
	}
	return page(ctx, db, all, bound, limit)
}

// page is the page of letters that were found, down to a bound.
func page(ctx context.Context, db DB, all []found, bound *Mark, limit int) (p LetterPage, err error) {
	all = slices.DeleteFunc(all, func(f found) bool { return !f.is })
	more := len(all) > limit
	var of []Letter
	for _, f := range all[:min(len(all), limit)] {
		of = append(of, f.letter())
	}
	for some := range slices.Chunk(of, portion) { // one that was removed meanwhile is left out
		are, err := letters(ctx, db, theseSQL, places(some)...)
		if p.Letters = append(p.Letters, are...); err != nil {
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

// LetterList is the newest letters of a selection.
type LetterList struct {
	Letters []Letter `json:"dead_letters"` // the newest first
	Sums    []Sum    `json:"by_class"`     // of the newest 5,000, whatever the limit is
	Counted bool     `json:"counted_all"`  // there are no more than those
	More    bool     `json:"more"`         // the limit left some out
}

// Sum is the number of letters of a class.
type Sum struct {
	Class string `json:"class"`
	Count int    `json:"count"`
}

// Letters lists at most limit letters of a selection.
func Letters(ctx context.Context, db DB, s Selection, limit int) (list LetterList, err error) {
	if _, err := named(ctx, db, Name{Consumer: s.Consumer, Topic: s.Topic, Partition: Any}); err != nil {
		return list, err
	}
	all, bound, err := s.find(ctx, db, Mark{})
	if err != nil {
		return list, err
	}
	list.Sums, list.Counted = sumsOf(all), bound == nil
	p, err := page(ctx, db, all, bound, limit+1)
	list.Letters = p.Letters
	for err == nil && p.Next != nil && len(list.Letters) <= limit {
		p, err = Page(ctx, db, s, *p.Next, limit+1-len(list.Letters))
		list.Letters = append(list.Letters, p.Letters...)
	}
	if list.More = len(list.Letters) > limit; list.More {
		list.Letters = list.Letters[:limit]
	}
	return list, err
}

// sumsOf counts letters by class, the largest first.
func sumsOf(all []found) []Sum {
	of := map[string]int{}
	for i := range all {
		if f := &all[i]; f.is {
			class, _ := split(f.reason, f.event)
			of[class]++
		}
	}
	sums := []Sum{}
	for class, n := range of {
		sums = append(sums, Sum{class, n})
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class)) })
	return sums
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
