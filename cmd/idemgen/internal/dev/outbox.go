package dev

import (
	"context"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/visible"
	"github.com/idemgen/idemgen/runtime/franz/producer"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// relay sends the events of the service's outbox until ctx ends, if dev's database has one and the
// program links no producer of a relay: one with a relay of its own knows which topics they go to.
func (r *run) relay(ctx context.Context) error {
	p := r.place
	if p.postgres == nil {
		return nil
	}
	db, err := pgxpool.New(ctx, p.database)
	if err != nil {
		return err
	}
	defer db.Close()
	there := false
	if err := db.QueryRow(ctx, `SELECT to_regclass('idem_outbox') IS NOT NULL`).Scan(&there); err != nil || !there {
		return err
	}
	if r.relays() {
		return nil
	}
	// Debezium is not here: events of a table that was made for it wait in it, too.
	if err := p.execute(ctx, outbox.Migration(outbox.ByRelay)); err != nil {
		return err
	}
	sender, err := producer.New(p.brokers)
	if err != nil {
		return err
	}
	defer sender.Close()
	warnings := slog.New(slog.NewTextHandler(r.Out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return (&outbox.Relay{DB: db, Producer: sender, Logger: warnings}).Run(ctx)
}

// relays reports whether the program has a relay of its own.
func (r *run) relays() bool { return r.links("runtime/confluent/producer", "runtime/franz/producer") }

// lookForTopics is how often follow looks for topics that are new.
const lookForTopics = 300 * time.Millisecond

// follow prints each record of the topics that the service does not read, until the returned
// function is called, which prints what was sent before. Only the service sends there.
func (r *run) follow(ctx context.Context) (end func(), err error) {
	var read []string // regular expressions
	for topic := range r.place.topics {
		read = append(read, "^"+regexp.QuoteMeta(topic)+"$")
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(r.place.brokers), kgo.ConsumeRegex(), kgo.ConsumeTopics(".*"), kgo.ConsumeExcludeTopics(read...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMinAge(lookForTopics), kgo.MetadataMaxAge(lookForTopics),
	)
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	var printed atomic.Int64
	go func() {
		defer close(ended)
		for {
			fetches := client.PollFetches(ctx)
			if fetches.IsClientClosed() || ctx.Err() != nil {
				return
			}
			fetches.EachRecord(func(record *kgo.Record) {
				r.say("%s", asSent(record))
				printed.Add(1)
			})
		}
	}()
	return func() {
		for end := time.Now().Add(settling); ctx.Err() == nil && time.Now().Before(end) && printed.Load() < r.place.sent(ctx, client); {
			pause(ctx, 20*time.Millisecond)
		}
		client.Close()
		<-ended
	}, nil
}

// sent is how many records the topics hold that the service does not read.
func (p *place) sent(ctx context.Context, client *kgo.Client) (records int64) {
	there, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
	if err != nil {
		return 0
	}
	for _, topic := range there.Topics {
		if _, read := p.topics[*topic.Topic]; !read {
			for _, end := range p.broker.Ends(*topic.Topic) {
				records += end
			}
		}
	}
	return records
}

// asSent is the line of a record that the service sent.
func asSent(r *kgo.Record) string {
	var b strings.Builder
	b.WriteString("the service sent: topic=" + r.Topic + " partition=" + strconv.Itoa(int(r.Partition)) + " offset=" + strconv.FormatInt(r.Offset, 10))
	if r.Key != nil {
		b.WriteString(" key=" + shown(r.Key))
	}
	for _, h := range r.Headers {
		if h.Key == "type" {
			b.WriteString(" type=" + shown(h.Value))
		}
	}
	if r.Value == nil {
		return b.String() + " (a tombstone)"
	}
	return b.String() + " payload=" + shown(r.Value)
}

// shown is the text of some bytes, in one line and without characters on which a terminal acts.
func shown(b []byte) string {
	const most = 300
	text, more := string(b), ""
	if len(b) > most {
		text, more = string(b[:most]), "..."
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(visible.Text(text)) + more
}
