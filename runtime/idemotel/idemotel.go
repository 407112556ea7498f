// Package idemotel creates OpenTelemetry spans for the work of an idem.Consumer. A [Traces] is a
// hook and has a middleware:
//
//	traces := idemotel.New("order-projector", otel.GetTracerProvider())
//	consumer, err := orders.NewConsumer(db, orders.Service{},
//		idem.WithHooks(traces), idem.WithMiddleware(traces.Handler))
//
// docs/operations.md lists the spans. They contain no keys, headers or payloads, but they do
// contain the texts of errors unchanged. It must not import any package of this module
// but idem, hook, idemtype and wire.
package idemotel

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Traces creates the spans of a consumer.
type Traces struct {
	consumer string
	tracer   trace.Tracer
}

var (
	_ hook.BatchStart = (*Traces)(nil)
	_ hook.BatchEnd   = (*Traces)(nil)
	_ hook.CallStart  = (*Traces)(nil)
	_ hook.Call       = (*Traces)(nil)
	_ idem.Middleware = (*Traces)(nil).Handler
)

// New returns the traces of a consumer. consumer is its name in the spec.
func New(consumer string, provider trace.TracerProvider) *Traces {
	return &Traces{consumer, provider.Tracer("github.com/idemgen/idemgen/runtime/idemotel", trace.WithSchemaURL(semconv.SchemaURL))}
}

// Keys under which a context holds our spans. Its innermost span may belong to other code.
type (
	ofBatch struct{}
	ofCall  struct{}
)

// start begins a span and returns a context that holds it under key.
func (t *Traces) start(ctx context.Context, key any, operation string, p idemtype.Partition, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx, span := t.tracer.Start(ctx, operation+" "+p.Topic, append(options, trace.WithAttributes(
		semconv.MessagingSystemKafka,
		semconv.MessagingOperationName(operation),
		semconv.MessagingOperationTypeProcess,
		semconv.MessagingDestinationName(p.Topic),
		semconv.MessagingDestinationPartitionID(strconv.Itoa(int(p.Number))),
		semconv.MessagingConsumerGroupName(t.consumer),
	))...)
	return context.WithValue(ctx, key, span), span
}

// fail sets the status of a span to err, unless it is nil.
func fail(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(semconv.ErrorType(err))
		span.SetStatus(codes.Error, err.Error())
	}
}

// OnBatchStart is called by the runtime.
func (t *Traces) OnBatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context {
	ctx, _ = t.start(ctx, ofBatch{}, "process", p, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(semconv.MessagingBatchMessageCount(records)))
	return ctx
}

// OnBatchEnd is called by the runtime.
func (t *Traces) OnBatchEnd(ctx context.Context, _ idemtype.Partition, r idemtype.Result, err error) {
	span, is := ctx.Value(ofBatch{}).(trace.Span)
	if !is {
		return
	}
	span.SetAttributes(
		attribute.Int64("idemgen.applied", r.Applied), attribute.Int64("idemgen.duplicates", r.Duplicates),
		attribute.Int64("idemgen.conflicts", r.Conflicts), attribute.Int64("idemgen.dead", r.Dead),
		attribute.Int64("idemgen.waiting", r.Waiting), attribute.Int64("idemgen.ignored", r.Ignored),
	)
	fail(span, err)
	span.End()
}

// Handler is a middleware that creates a span for each call of a handler.
func (t *Traces) Handler(next idem.HandlerFunc) idem.HandlerFunc {
	return func(ctx context.Context, tx idem.Tx) error {
		d, is := idem.DeliveryFrom(ctx)
		if !is {
			return next(ctx, tx)
		}
		ctx, span := t.event(ctx, "handle", d)
		err := errReturn // in case next panics
		defer func() {
			fail(span, err)
			span.End()
		}()
		err = next(ctx, tx)
		return err
	}
}

var errReturn = errors.New("the handler did not return")

// OnCallStart is called by the runtime.
func (t *Traces) OnCallStart(ctx context.Context, _ idemtype.Partition) context.Context {
	if d, is := idem.DeliveryFrom(ctx); is {
		ctx, _ = t.event(ctx, "call", d)
	}
	return ctx
}

// OnCall is called by the runtime.
func (t *Traces) OnCall(ctx context.Context, _ idemtype.Partition, c hook.Ended) {
	span, is := ctx.Value(ofCall{}).(trace.Span)
	if !is {
		return
	}
	span.SetAttributes(attribute.String("idemgen.outcome", string(c.Outcome)))
	fail(span, c.Err)
	span.End()
}

// event begins the span of one event. It links the span that the record's headers name.
func (t *Traces) event(ctx context.Context, operation string, d idem.Delivery) (context.Context, trace.Span) {
	sender := propagation.TraceContext{}.Extract(context.Background(), headers(d.Message.Headers))
	return t.start(ctx, ofCall{}, operation, idemtype.Partition{Topic: d.Message.Topic, Number: d.Message.Partition},
		trace.WithLinks(trace.LinkFromContext(sender)),
		trace.WithAttributes(
			semconv.MessagingKafkaOffset(int(d.Message.Offset)),
			attribute.String("idemgen.event", d.Event), attribute.Int("idemgen.attempt", d.Attempt),
		))
}

// headers implements [propagation.TextMapCarrier] for the headers of a record.
type headers []wire.Header

// Get returns the value of the last header called name.
func (h headers) Get(name string) (value string) {
	for _, one := range h {
		if one.Name == name {
			value = string(one.Value)
		}
	}
	return value
}

// Set does nothing: the headers are read-only.
func (headers) Set(string, string) {}

// Keys is not used by Extract.
func (headers) Keys() []string { return nil }

// Headers returns the headers that carry the span of ctx in W3C Trace Context form, for field
// Headers of an outbox.Event. It returns an empty map if ctx has no span.
func Headers(ctx context.Context) map[string]string {
	h := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, h)
	return h
}
