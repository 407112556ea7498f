package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// audit holds what the directory has, and has sent, against what accounts did.
func (w *world) audit(ctx context.Context, made changes) error {
	var want, got map[string]string
	err := until(ctx, "the directory follows accounts", func() (same bool, err error) {
		if want, err = rows(ctx, w.accounts.pool, `SELECT user_id::text, email || ', ' || full_name FROM users`); err != nil {
			return false, err
		}
		if got, err = rows(ctx, w.directory.pool, `SELECT user_id::text, email || ', ' || full_name FROM people`); err != nil {
			return false, err
		}
		left, err := waiting(ctx, w.accounts.pool, w.directory.pool)
		return equal(want, got) && left == 0, err
	})
	if err != nil {
		return err
	}
	users, err := w.look(userTopic)
	if err != nil {
		return err
	}
	people, err := w.look(personTopic)
	if err != nil {
		return err
	}
	fmt.Printf("  topic      %s: %d events, %d of them tombstones, and %d copies\n", userTopic, users.events, users.tombstones, users.copies)
	fmt.Printf("  directory  %d people, each as accounts has them\n", len(got))
	fmt.Printf("  topic      %s: %d events, %d of them tombstones, and %d copies\n", personTopic, people.events, people.tombstones, people.copies)
	if dead, err := rows(ctx, w.directory.pool, `SELECT offs::text, reason FROM idem_dead_letter`); err != nil || len(dead) > 0 {
		return errors.Join(err, fmt.Errorf("dead letters: %v", dead))
	}
	if users.copies == 0 && !w.debezium {
		return errors.New("no event came twice: the relay was not cut off")
	}
	if users.events != made.events() || users.tombstones != made.deleted {
		return fmt.Errorf("%s has not the %d events that were written, with %d tombstones", userTopic, made.events(), made.deleted)
	}
	if people.events != made.created+made.deleted || people.tombstones != made.deleted {
		return fmt.Errorf("%s has not one event for each of %d users created, and %d deleted", personTopic, made.created, made.deleted)
	}
	fmt.Println("every event took effect once")
	return nil
}

// rows reads two columns of text.
func rows(ctx context.Context, db *pgxpool.Pool, sql string) (map[string]string, error) {
	found, err := db.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	var key, value string
	_, err = pgx.ForEachRow(found, []any{&key, &value}, func() error {
		all[key] = value
		return nil
	})
	return all, err
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// waiting counts the events that are not sent yet.
func waiting(ctx context.Context, dbs ...*pgxpool.Pool) (all int, err error) {
	for _, db := range dbs {
		var n int
		if err := db.QueryRow(ctx, `SELECT count(*) FROM idem_outbox`).Scan(&n); err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

// content is what a topic holds.
type content struct{ events, tombstones, copies int }

func (w *world) look(topic string) (c content, err error) {
	records, err := read(w.brokers, topic)
	if err != nil {
		return c, err
	}
	seen := map[string]bool{}
	for _, r := range records {
		id := header(r, "id")
		switch {
		case id == "":
			return c, fmt.Errorf("a record of %s has no header id", topic)
		case seen[id]:
			c.copies++
			continue
		case r.Value == nil:
			c.tombstones++
		}
		seen[id] = true
		c.events++
	}
	return c, nil
}

func header(r *kafka.Message, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
