package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// source is a database with an outbox that Debezium reads.
type source struct {
	*database
	connect  *kafkatest.Connect
	settings []byte // what idemgen outbox connector printed
}

const (
	connector = "idem-outbox"
	role      = "e2e_debezium"
	password  = "e2e" // of a server that ends with this process
)

// openSource starts Postgres and Connect, and a connector as a reader of docs/outbox.md makes it.
func openSource(ctx context.Context, k *kit) (_ *source, err error) {
	s := &source{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start Debezium: %w", err), s.close())
		}
	}()
	s.database, err = openDatabase(ctx, map[string]string{"wal_level": "logical"},
		outbox.Migration(outbox.ByDebezium), `ALTER TABLE idem_outbox ADD COLUMN tenant text`,
		`CREATE ROLE `+role+` LOGIN REPLICATION PASSWORD '`+password+`'`)
	if err != nil {
		return nil, err
	}
	if s.connect, err = kafkatest.RunConnect(ctx, k.broker.Addr(), "IDEM_OUTBOX_PASSWORD="+password); err != nil {
		return nil, err
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		return nil, err
	}
	s.settings, err = exec.CommandContext(ctx, k.program("idemgen"), "outbox", "connector", "--host", u.Hostname(), "--port", u.Port(),
		"--user", role, "--dbname", strings.TrimPrefix(u.Path, "/"), "--name", connector, "--header", "tenant").Output()
	if err != nil {
		return nil, fmt.Errorf("idemgen outbox connector: %w", err)
	}
	return s, s.begin(ctx)
}

// begin gives the worker the connector, and waits until it reads the slot.
func (s *source) begin(ctx context.Context) error {
	if err := s.connect.Put(ctx, connector, s.settings); err != nil {
		return err
	}
	var state, why string
	err := stage.Until(ctx, patience, func() (bool, error) {
		var err error
		state, why, err = s.connect.Status(ctx, connector)
		if err != nil || state != "RUNNING" {
			return false, nil // it is on its way
		}
		n, err := s.count(ctx, `SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'idem_outbox' AND active`)
		return n == 1, err
	})
	if err != nil {
		return fmt.Errorf("the connector is %q: %w\n%s", state, err, why)
	}
	return nil
}

func (s *source) close() error {
	var errs []error
	if s.connect != nil {
		errs = append(errs, s.connect.Close())
	}
	if s.database != nil {
		errs = append(errs, s.database.close())
	}
	return errors.Join(errs...)
}
