// Package accounts is the service that owns users. It is written by hand, and consumes nothing:
// each change of a user and the event that tells of it are one transaction.
package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// AggregateType is that of all events: Kafka's topic is outbox.event.user.
const AggregateType = "user"

// ErrNoUser says that there is no such user.
var ErrNoUser = errors.New("there is no such user")

// User is a person with an account.
type User struct {
	ID       string `json:"-"` // a UUID; the key of the events
	Email    string `json:"email"`
	FullName string `json:"full_name"`
}

// Service changes users.
type Service struct{ DB *pgxpool.Pool }

// Create adds a user.
func (s Service) Create(ctx context.Context, u User) error {
	return pgx.BeginFunc(ctx, s.DB, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO users (user_id, email, full_name) VALUES ($1, $2, $3)`, u.ID, u.Email, u.FullName)
		if err != nil {
			return fmt.Errorf("create user %s: %w", u.ID, err)
		}
		return tell(ctx, tx, u.ID, "UserCreated", outbox.JSON(u))
	})
}

// Rename changes a user's name. The update locks the row, so that the events of a user have the
// order of the changes.
func (s Service) Rename(ctx context.Context, id, fullName string) error {
	return pgx.BeginFunc(ctx, s.DB, func(tx pgx.Tx) error {
		if err := change(ctx, tx, id, `UPDATE users SET full_name = $2 WHERE user_id = $1`, id, fullName); err != nil {
			return err
		}
		return tell(ctx, tx, id, "UserRenamed", outbox.JSON(map[string]string{"full_name": fullName}))
	})
}

// Delete removes a user. Its event has no payload: it is a tombstone, behind which a compacted
// topic forgets the user, too.
func (s Service) Delete(ctx context.Context, id string) error {
	return pgx.BeginFunc(ctx, s.DB, func(tx pgx.Tx) error {
		if err := change(ctx, tx, id, `DELETE FROM users WHERE user_id = $1`, id); err != nil {
			return err
		}
		return tell(ctx, tx, id, "UserDeleted", nil)
	})
}

// change changes one user.
func change(ctx context.Context, tx pgx.Tx, id, sql string, args ...any) error {
	done, err := tx.Exec(ctx, sql, args...)
	if err == nil && done.RowsAffected() == 0 {
		err = ErrNoUser
	}
	if err != nil {
		return fmt.Errorf("change user %s: %w", id, err)
	}
	return nil
}

// tell writes an event of a user into the outbox.
func tell(ctx context.Context, tx pgx.Tx, id, what string, payload outbox.Payload) error {
	return outbox.Write(ctx, tx, outbox.Event{AggregateType: AggregateType, AggregateID: id, Type: what, Payload: payload})
}
