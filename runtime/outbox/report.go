package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
	"github.com/idemgen/idemgen/runtime/internal/report"
)

// reportLook is how often a relay looks whether the database has the table of reports, as long as
// it has not: the outbox can be used without the tables of a consumer.
const reportLook = time.Minute

// report starts to report this relay in the database, where operators read it. The returned
// function ends that.
func (r *runner) report(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !r.reportable(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(reportLook):
			}
		}
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		w := report.Writer{
			Name: fmt.Sprintf("%s, process %d", host, os.Getpid()), Version: process.Version(),
			Connect: r.connectReport, Snapshot: r.snapshot, Every: report.Every, Log: r.log(),
		}
		end := w.Start()
		<-ctx.Done()
		end()
	}()
	return func() { cancel(); <-done }
}

// reportable reports whether the database has the table of reports.
func (r *runner) reportable(ctx context.Context) (is bool) {
	ctx, cancel := r.asking(ctx)
	defer cancel()
	err := r.DB.QueryRow(ctx, `SELECT pg_catalog.to_regclass('idem_process') IS NOT NULL`).Scan(&is)
	return is && err == nil
}

// reportSQL makes statements of reports give up soon, and not wait for the disk.
const reportSQL = `SELECT pg_catalog.set_config('application_name', 'idemgen report', false), pg_catalog.set_config('lock_timeout', '1000', false),
    pg_catalog.set_config('statement_timeout', '2000', false), pg_catalog.set_config('synchronous_commit', 'off', false)`

func (r *runner) connectReport(ctx context.Context) (*pgx.Conn, error) {
	conn, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, reportSQL); err != nil {
		closeSoon(ctx, conn)
		return nil, err
	}
	return conn, nil
}

// advice is what to do about what Health reports, besides the broker.
var advice = map[string]string{
	aboutDatabase:   "see whether the database runs, and whether the relay's role has its rights",
	aboutUnanswered: "see whether the topic's partitions have a leader",
	aboutDelete:     "see which transaction locks rows of idem_outbox, and which triggers and rules the table has",
	aboutWaiting:    "see why events are written faster than they are sent",
	aboutLeader:     "see the relay that leads: it sends nothing",
}

// adviceOn says what to do about what Health reports.
func adviceOn(about string, err error) string {
	switch about {
	case aboutBroker:
		return refusal.Advice(refusal.Code(err))
	case aboutRefused:
		_, _, do := rejection(err)
		return do
	}
	if right, is := errors.AsType[*outage.MissingRight](err); is && right.Grant != "" {
		return right.Grant
	}
	return advice[about]
}

// rejection returns the code of an event that holds back its aggregate, and what to do. The event
// is nil if the broker does not reject it, but does not accept it either.
func rejection(err error) (code string, of *process.Event, do string) {
	held, is := errors.AsType[*heldError](err)
	no, rejected := errors.AsType[*RefusedError](err)
	if !is || !rejected {
		return process.Refused, nil, advice[aboutUnanswered]
	}
	switch of = &held.event; no.Cause {
	case NoTopic:
		return process.TopicMissing, of, "create topic " + of.Topic + ": the relay then sends its events by itself"
	case TooLarge:
		return process.TooLarge, of, fmt.Sprintf("raise max.message.bytes of topic %s, and the limit in the settings of the relay's producer: the payload of this event has %d bytes", of.Topic, of.Bytes)
	}
	return process.Refused, of, "remove the cause that the error names: the relay retries the event"
}

// snapshot is what this relay reports.
func (r *Relay) snapshot() process.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := process.Report{Relay: &process.Relay{Leads: r.is.Leading, Sent: r.is.Sent}}
	for about, err := range r.fault {
		_, code, _ := strings.Cut(about, " ")
		is := process.Problem{Code: code, Since: r.since[about], Reason: err.Error(), Do: adviceOn(about, err)}
		if of, lasts := err.(*lasting); lasts { // readers show Since
			is.Since, is.Reason = of.since, of.what+": "+of.err.Error()
		}
		if about == aboutRefused {
			is.Code, is.Event, is.Do = rejection(err)
		}
		out.Problems = append(out.Problems, is)
	}
	slices.SortFunc(out.Problems, func(a, b process.Problem) int { return strings.Compare(a.Code, b.Code) })
	return out
}
