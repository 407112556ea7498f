package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/idemgen/idemgen/runtime/stream"
)

func listStreams(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	all, err := stream.List(ctx, db, s.name.Consumer)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = []stream.Status{} // an empty list in JSON
	}
	return listed(all), nil
}

// listed is the result of list.
type listed []stream.Status

func (l listed) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONSUMER\tTOPIC\tPARTITION\tTOPIC ID\tPOSITION\tROW\tKIND\tWRITTEN\tAGE\tPARTITIONS\tIDENTITY\tWINDOW ROWS\tDEAD LETTERS\tLAST OPERATOR")
	for i := range l {
		s := &l[i]
		id := s.TopicID
		if s.Former {
			id += " (former)"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t", s.Consumer, s.Topic, s.Partition, id)
		if t := s.Tail; t != nil {
			fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%d\t%s\t%d\t", t.Position, t.Seq, t.Kind, t.WrittenAt.Format(time.RFC3339),
				age(t.AgeSeconds), t.Partitions, cmp.Or(t.Identity, "-"), t.WindowRows)
		} else {
			fmt.Fprint(w, "-\t-\tgone\t-\t-\t-\t-\t-\t")
		}
		operator := "-"
		if o := s.LastOperatorRow; o != nil {
			operator = fmt.Sprintf("%s row %d %s, %d -> %d: %s", o.WrittenAt.Format(time.RFC3339), o.Seq, o.Kind, o.From, o.To, o.Info)
		}
		fmt.Fprintf(w, "%d\t%s\n", s.OpenDeadLetters, operator)
	}
	_ = w.Flush() // never fails
	return b.String()
}

// age is a duration as people say it.
func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 48*time.Hour {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return d.Round(time.Second).String()
}
