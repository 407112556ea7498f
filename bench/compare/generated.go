package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/bench/accounts"
	"github.com/idemgen/idemgen/runtime/franz"
)

// generated is the service that idemgen generates from bench/accounts/idemgen.yaml.
func generated(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	consumer, err := accounts.NewConsumer(db)
	if err != nil {
		return err
	}
	return consumer.Run(ctx, &franz.Source{Brokers: brokers, Options: []kgo.Opt{kgo.SessionTimeout(session), kgo.HeartbeatInterval(session / 5)}})
}
