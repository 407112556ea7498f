package idemotel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	charges "github.com/idemgen/idemgen/examples/card-charge"
	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemotel"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// recorder keeps the spans that ended.
func recorder(consumer string) (*idemotel.Traces, *tracetest.InMemoryExporter) {
	kept := tracetest.NewInMemoryExporter()
	return idemotel.New(consumer, trace.NewTracerProvider(trace.WithSyncer(kept))), kept
}

// told is a line for each span: its parent, its attributes, what it is linked to, its error.
func told(spans tracetest.SpanStubs) string {
	names := map[string]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	var lines []string
	for _, s := range spans {
		line := fmt.Sprintf("%s %s", s.SpanKind, s.Name)
		if s.Parent.IsValid() {
			line += " in " + names[s.Parent.SpanID().String()]
		}
		for _, a := range s.Attributes {
			if name, ours := strings.CutPrefix(string(a.Key), "idemgen."); ours && a.Value.String() != "0" {
				line += fmt.Sprintf(" %s=%s", name, a.Value.String())
			}
		}
		for _, l := range s.Links {
			line += " of " + l.SpanContext.SpanID().String()
		}
		if s.Status.Description != "" {
			line += ": " + s.Status.Description
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// attributes are all of a span.
func attributes(s tracetest.SpanStub) string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, name+"="+all[name])
	}
	return strings.Join(lines, " ")
}

const sender = "00f067aa0ba902b7"

func message(topic string, offset int64, kind, value string) idem.Message {
	return idem.Message{
		Topic: topic, Offset: offset, LeaderEpoch: -1, Key: []byte("00000000-0000-4000-8000-000000000001"), Value: []byte(value),
		Headers: []idem.Header{
			{Name: "event-type", Value: []byte(kind)}, {Name: "Idempotency-Key", Value: fmt.Append(nil, "secret-", offset)},
			{Name: "traceparent", Value: []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-" + sender + "-01")},
		},
	}
}

// placed and paid are an order and its payment.
var placed = message("orders.v1", 0, "order.placed", `{"order_id":"00000000-0000-4000-8000-000000000001","customer_id":"secret",`+
	`"channel":"web","total":9,"placed_at":"2026-11-23T09:00:00Z","items":[]}`)
var paid = message("orders.v1", 1, "order.paid", `{"payment_id":"00000000-0000-4000-8000-000000000002",`+
	`"order_id":"00000000-0000-4000-8000-000000000001","amount":9,"booked_at":"2026-11-23T09:00:00Z"}`)

// shop handles payments, the first time without success.
type shop struct {
	orders.Service
	calls   int
	headers map[string]string
}

func (s *shop) OrderPaid(ctx context.Context, tx idem.Tx, e orders.OrderPaid) error {
	s.headers = idemotel.Headers(ctx)
	if s.calls++; s.calls == 1 {
		return idem.RetryAfter(time.Millisecond, errors.New("not now"))
	}
	return s.Service.OrderPaid(ctx, tx, e)
}

// once is a source of one batch.
type once []idem.Message

var errDelivered = errors.New("delivered")

func (o once) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	p := idem.Partition{Topic: o[0].Topic}
	none := func(context.Context) (idem.Commit, error) { return idem.Commit{Offset: -1}, nil }
	if _, err := sink.Assigned(ctx, idem.Assignment{Partition: p, TopicID: idem.UUID{1}, Partitions: 1, High: 2, Committed: none}); err != nil {
		return err
	}
	if err := sink.Deliver(ctx, p, o); err != nil {
		return err
	}
	sink.Revoked(p)
	return errDelivered
}

func database(t *testing.T, migrations string) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, migrations)
	return db
}

var quiet = idem.WithLogger(slog.New(slog.DiscardHandler))

// A batch has a span, also one that failed and is tried again; a handler's call has one in it,
// which is linked to the span that sent the record.
func TestBatchThatIsTriedAgain(t *testing.T) {
	t.Parallel()
	traces, kept := recorder("order-projector")
	s := &shop{}
	c, err := orders.NewConsumer(database(t, "../../examples/orders/migrations"), s, quiet, idem.WithHooks(traces), idem.WithMiddleware(traces.Handler))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), once{placed, paid}); !errors.Is(err, errDelivered) {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	check(t, "spans", told(spans), `internal handle orders.v1 in process orders.v1 event=OrderPaid attempt=1 of 00f067aa0ba902b7: not now
consumer process orders.v1: will be retried: handler OrderPaid, offset 1: not now
internal handle orders.v1 in process orders.v1 event=OrderPaid attempt=1 of 00f067aa0ba902b7
consumer process orders.v1 applied=2`)
	check(t, "a batch", attributes(spans[3]), "idemgen.applied=2 idemgen.conflicts=0 idemgen.dead=0 idemgen.duplicates=0 idemgen.ignored=0 "+
		"idemgen.waiting=0 messaging.batch.message_count=2 messaging.consumer.group.name=order-projector messaging.destination.name=orders.v1 "+
		"messaging.destination.partition.id=0 messaging.operation.name=process messaging.operation.type=process messaging.system=kafka")
	check(t, "an event", attributes(spans[2]), "idemgen.attempt=1 idemgen.event=OrderPaid messaging.consumer.group.name=order-projector "+
		"messaging.destination.name=orders.v1 messaging.destination.partition.id=0 messaging.kafka.offset=1 messaging.operation.name=handle "+
		"messaging.operation.type=process messaging.system=kafka")
	if text := fmt.Sprintf("%+v", spans); strings.Contains(text, "secret") || strings.Contains(text, "00000000-0000-4000-8000") {
		t.Errorf("a span holds what a record does: %s", text)
	}
	of := spans[2].SpanContext
	check(t, "what a record is sent with", fmt.Sprint(s.headers), fmt.Sprintf("map[traceparent:00-%s-%s-01]", of.TraceID(), of.SpanID()))
	check(t, "the same without a span", fmt.Sprint(idemotel.Headers(t.Context())), "map[]")
}

// provider charges, the first time without an answer.
type provider struct {
	calls   int
	headers []string
}

func (p *provider) ChargeRequested(ctx context.Context, _ charges.ChargeRequested) (charges.Receipt, error) {
	p.headers = append(p.headers, idemotel.Headers(ctx)["traceparent"])
	if p.calls++; p.calls == 1 {
		return charges.Receipt{}, idem.NotDone(errors.New("no answer"))
	}
	return charges.Receipt{ChargeID: "1", ChargedAt: time.Now()}, nil
}

// Each call of an effect has a span, which says how it ended, and which the call can hand on.
func TestCallsOfEffects(t *testing.T) {
	t.Parallel()
	traces, kept := recorder("charges")
	p := &provider{}
	c, err := charges.NewConsumer(database(t, "../../examples/card-charge/migrations"), p, quiet, idem.WithHooks(traces))
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "charges.v1", 0, 0)
	if err == nil {
		_, err = w.Apply(t.Context(), []idem.Message{message("charges.v1", 0, "", `{"order_id":"00000000-0000-4000-8000-000000000001","cents":1999,"card_token":"secret"}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	check(t, "spans", told(spans), `internal call charges.v1 in process charges.v1 event=ChargeRequested attempt=1 outcome=failed of 00f067aa0ba902b7: no answer
internal call charges.v1 in process charges.v1 event=ChargeRequested attempt=2 outcome=done of 00f067aa0ba902b7
consumer process charges.v1 applied=1`)
	if len(spans) < len(p.headers) {
		t.FailNow()
	}
	for i, header := range p.headers {
		of := spans[i].SpanContext
		check(t, "what the call hands on", header, fmt.Sprintf("00-%s-%s-01", of.TraceID(), of.SpanID()))
	}
}
