// Package audit tells what the orders example must have done with a log of records, and
// compares it with what the database says: every row, every dead letter, every chain of the
// ledger, the keys, and the order of effects on each order. What must be there comes from the
// oracle, which reads the spec and shares no code with the runtime or the generated service.
//
// It must not import any package of this module but internal/gen/model, internal/proof/oracle,
// internal/gen/resolve and runtime/wire.
package audit

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Handler stands in for the service's handler of OrderPaid, after its write step.
type Handler func(t *oracle.Tables, e oracle.Values) error

// ReadSpec reads and checks the spec of the service in dir.
func ReadSpec(dir string) (*model.Service, error) {
	file := filepath.Join(dir, "idemgen.yaml")
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return resolve.Service(filepath.ToSlash(file), src, nil)
}

// Replay is the state that a log leads to.
type Replay struct {
	service *model.Service
	in      *oracle.Interpreter
	orders  map[string]*orderHistory
	touched map[string]bool // orders with events since the effects were compared
	keyed   int             // events that took effect and have a key
	dead    map[Place]*wire.Message
}

// NewReplay returns a replay of the empty log.
func NewReplay(service *model.Service, paid Handler) *Replay {
	in := oracle.New(service)
	in.Handle("OrderPaid", paid)
	return &Replay{service: service, in: in, orders: map[string]*orderHistory{}, touched: map[string]bool{}, dead: map[Place]*wire.Message{}}
}

// Apply goes on by one record. Records of a partition come in the order of their offsets.
func (r *Replay) Apply(m *wire.Message) oracle.Outcome {
	out := r.take(m, r.in.Apply)
	if out.DeadLetter() != "" {
		r.dead[Place{m.Partition, m.Offset}] = m
	}
	return out
}

// take gives a record to the oracle.
func (r *Replay) take(m *wire.Message, by func(oracle.Record) oracle.Outcome) oracle.Outcome {
	record := oracle.Record{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Time: m.Time, Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		record.Headers = append(record.Headers, oracle.Header{Name: h.Name, Value: h.Value})
	}
	out := by(record)
	if out.Kind == oracle.Applied {
		r.addOrder(out.Event, m)
		if out.Key != "" {
			r.keyed++
		}
	}
	return out
}

// AddPayment says what the example's own handler does, in the oracle's words.
func AddPayment(t *oracle.Tables, e oracle.Values) error {
	where := oracle.Row{"order_id": e.Get("order_id")}
	paid, err := t.Select("orders", "paid", where)
	if err != nil || len(paid) != 1 {
		return errors.Join(err, fmt.Errorf("%d orders", len(paid)))
	}
	sum, ok1 := new(big.Rat).SetString(paid[0])
	amount, ok2 := new(big.Rat).SetString(e.Text("amount"))
	if !ok1 || !ok2 {
		return errors.New("not a number")
	}
	_, err = t.Update("orders", where, oracle.Row{"paid": sum.Add(sum, amount).FloatString(2)})
	return err
}

// letters are the dead letters as "partition offset class".
func (r *Replay) letters() []string {
	var out []string
	for _, l := range r.in.DeadLetters() {
		out = append(out, strings.Join(strings.SplitN(l, " ", 4)[:3], " "))
	}
	return out
}
