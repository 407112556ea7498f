package resolve

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func topicOf(t testing.TB, s *model.Service, name string) *model.Topic {
	t.Helper()
	i := slices.IndexFunc(s.Topics, func(x *model.Topic) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no topic %s", name)
	}
	return s.Topics[i]
}

func eventOf(t testing.TB, topic *model.Topic, name string) *model.Event {
	t.Helper()
	i := slices.IndexFunc(topic.Events, func(x *model.Event) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no event %s", name)
	}
	return topic.Events[i]
}

// TestKeySpaces: a space is consumer, topic and event, and what the parts are called, and
// nothing else.
func TestKeySpaces(t *testing.T) {
	space := func(encoded string) (out [16]byte) {
		sum := sha256.Sum256([]byte(encoded))
		copy(out[:], sum[:])
		return out
	}
	s := acceptedSpec(t, "orders_minimal")
	placed := s.Topics[0].Events[0].Key
	if want := space("\x03\x00\x00\x00\x0forder-projector\x00\x00\x00\x09orders.v1\x00\x00\x00\x0bOrderPlaced" + "\x01\x00\x00\x00\x10hIdempotency-Key"); placed.Space != want {
		t.Errorf("per event: %x, want %x", placed.Space, want)
	}
	if placed.Window != 8*24*time.Hour || len(placed.Parts) != 1 || placed.Parts[0].Header != "Idempotency-Key" {
		t.Errorf("key %+v", placed)
	}
	sink := acceptedSpec(t, "kitchen_sink")
	orders := topicOf(t, sink, "shop.orders.v1")
	erased := eventOf(t, orders, "OrderErased").Key
	if !erased.Offset || erased.Space != [16]byte{} || erased.Parts != nil || erased.Window != 0 {
		t.Errorf("offset key %+v", erased)
	}
}

// TestEventFields: own fields, the topic's, then the record-key parts in use.
func TestEventFields(t *testing.T) {
	topic := topicOf(t, acceptedSpec(t, "kitchen_sink"), "shop.orders.v1")
	for event, want := range map[string]string{
		"OrderPlaced":    "order_id=part customer_id channel status total delivery placed_on lines changed_at trace tenant",
		"OrderShipped":   "changed_at trace tenant order_id",
		"LineDropped":    "line_no changed_at trace tenant order_id",
		"OrderCancelled": "refund reason changed_at trace tenant order_id",
		"OrderErased":    "trace tenant order_id",
	} {
		var got []string
		for _, f := range eventOf(t, topic, event).Fields {
			text := f.Name
			if f.SamePart != nil {
				text += "=part"
			}
			if f.Source.Kind == model.FromRecordKey && f.Source.Part.Name != f.Name {
				t.Errorf("%s reads part %s", f.Name, f.Source.Part.Name)
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", event, strings.Join(got, " "), want)
		}
	}
}

// TestStoredNames: a name in the database that is the name in the spec is as if it was not
// written, so it is no change.
func TestStoredNames(t *testing.T) {
	const as = "  a: {name: %s, primary_key: [id], columns: {id: {type: uuid, name: %s}}}\n"
	for stored, want := range map[[2]string][2]string{{"a", "id"}: {}, {"b", "n"}: {"b", "n"}} {
		s := accept(t, "s", []byte(graph(fmt.Sprintf(as, stored[0], stored[1]), "      E: {type: e, handle: true}\n")))
		if got := [2]string{s.Tables[0].Stored, s.Tables[0].Columns[0].Stored}; got != want {
			t.Errorf("%q: got %q, want %q", stored, got, want)
		}
	}
}

// TestHandledParts: Go code gets the whole record key.
func TestHandledParts(t *testing.T) {
	s := accept(t, "s", []byte(graph("  a: {primary_key: [id], columns: {id: uuid}}\n", "      E: {type: e, handle: true}\n      F: {type: f, fields: {n: uuid}, write: [{insert: a, set: {id: n}}]}\n")))
	handled, plain := s.Topics[0].Events[0].Fields, s.Topics[0].Events[1].Fields
	if len(handled) != 1 || handled[0].Name != "id" || len(plain) != 1 || plain[0].Name != "n" {
		t.Errorf("handled %v, plain %v", handled, plain)
	}
}

// TestFilling: every column gets the value that docs/tables.md gives it.
func TestFilling(t *testing.T) {
	sink := acceptedSpec(t, "kitchen_sink")
	write := func(assigns []model.Assign) string {
		var out []string
		for _, a := range assigns {
			v := map[model.ValueKind]string{model.NowValue: "now", model.PositionValue: "position", model.NullValue: "null"}[a.Value.Kind]
			switch {
			case a.Value.Kind == model.ConstValue:
				v = "=" + a.Value.Const.Text
			case a.Value.Kind == model.ElemValue && a.Value.Field == nil:
				v = "each"
			case a.Value.Kind == model.ElemValue:
				v = "each." + a.Value.Field.Name
			case a.Value.Kind == model.FieldValue:
				v = a.Value.Field.Name
			}
			out = append(out, a.Column.Name+":"+v)
		}
		return strings.Join(out, " ")
	}
	orders := topicOf(t, sink, "shop.orders.v1")
	for _, c := range []struct {
		st         *model.Step
		set, where string
	}{
		{eventOf(t, orders, "OrderPlaced").Steps[0], "tenant:tenant order_id:order_id customer_id:customer_id status:status channel:channel total:total delivery:delivery placed_on:placed_on cancelled_at:null changed_at:changed_at", ""},
		{eventOf(t, orders, "OrderPlaced").Steps[1], "tenant:tenant order_id:order_id line_no:position sku:each.sku quantity:each.quantity price:each.price note:each.note", ""},
		{eventOf(t, orders, "OrderCancelled").Steps[0], "status:=CANCELLED cancelled_at:now", "tenant:tenant order_id:order_id"},
		{eventOf(t, orders, "LinesPriced").Steps[0], "price:each.price note:each.note", "tenant:tenant order_id:order_id sku:each.sku"},
		{eventOf(t, orders, "LineDropped").Steps[0], "", "tenant:tenant order_id:order_id line_no:line_no"},
		{eventOf(t, topicOf(t, sink, "stock.moves"), "StockMoved").Steps[0], "sku:sku warehouse:warehouse change:each reason:null", ""},
	} {
		if set, where := write(c.st.Set), write(c.st.Where); set != c.set || where != c.where {
			t.Errorf("%s: set %s; where %s", c.st.GoName, set, where)
		}
	}
	skips := ""
	for _, e := range orders.Events {
		for _, st := range e.Steps {
			skips += st.If.Exists + "/" + st.If.Missing + " "
		}
	}
	skips += acceptedSpec(t, "offset_ledger").Topics[0].Events[0].Steps[0].If.Exists
	if want := "/ / /skip /skip /skip /error /skip skip"; skips != want {
		t.Errorf("if_exists and if_missing: %s, want %s", skips, want)
	}
	closed := eventOf(t, topicOf(t, sink, "shop.customers"), "CustomerClosed").Steps[0]
	if closed.If.Newer.Name != "version" || closed.If.Version.Field.Name != "version" {
		t.Errorf("guard %+v", closed.If.Newer)
	}
	if by := topicOf(t, sink, "newsletter.subscriptions").Events[0].Steps[0].By; !slices.Equal(model.ColumnNames(by), []string{"email", "topic"}) {
		t.Errorf("by %v", model.ColumnNames(by))
	}
}

// TestPolicies: what on_failure of a topic does not say has its default.
func TestPolicies(t *testing.T) {
	sink := acceptedSpec(t, "kitchen_sink")
	orders := topicOf(t, sink, "shop.orders.v1")
	const day = 24 * time.Hour
	minimal := resolveFailure(nil)
	minimal.Keep = 8 * day
	for _, c := range []struct {
		got, want model.FailurePolicy
	}{
		{topicOf(t, sink, "shop.customers").OnFailure, model.FailurePolicy{Retries: 8, InitialBackoff: 200 * time.Millisecond, MaxBackoff: 30 * time.Second, GiveUp: "dead_letter", StopAfter: 20, Keep: 3 * day}},
		{orders.OnFailure, model.FailurePolicy{Retries: 8, InitialBackoff: 200 * time.Millisecond, MaxBackoff: time.Minute, GiveUp: "dead_letter", StopAfter: 20, Keep: 8 * day}},
		{topicOf(t, sink, "stock.moves").Events[0].OnFailure, model.FailurePolicy{Retries: 8, InitialBackoff: 200 * time.Millisecond, MaxBackoff: 30 * time.Second, GiveUp: "stop", StopAfter: 20, Keep: 30 * day}},
		{acceptedSpec(t, "orders_minimal").Topics[0].OnFailure, minimal},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
	if got := acceptedSpec(t, "orders_minimal").Limits; got != resolveLimits(nil) {
		t.Errorf("limits %+v", got)
	}
	want := resolveLimits(nil)
	want.BatchEvents, want.BatchWait, want.BatchTimeout = 1000, 20*time.Millisecond, 20*time.Second
	want.MaxPayload = 512 << 10
	if sink.Limits != want {
		t.Errorf("limits %+v, want %+v", sink.Limits, want)
	}
}

// TestKeyOptions: what copies, compare and keep become.
func TestKeyOptions(t *testing.T) {
	names := func(fields []*model.Field) (out []string) {
		for _, f := range fields {
			out = append(out, f.Name)
		}
		return out
	}
	bank := acceptedSpec(t, "bank_transfers").Topics[0]
	opened, posted, closed := bank.Events[0], bank.Events[1], bank.Events[2]
	for _, c := range []struct {
		e        *model.Event
		compared string
		here     bool
	}{{opened, "account_id currency posting", true}, {posted, "account_id amount_minor", true}, {closed, "account_id notice", false}} {
		if got := strings.Join(names(c.e.Key.Compared), " "); got != c.compared || c.e.Key.SamePartition != c.here {
			t.Errorf("%s: compares %s, same partition %v", c.e.Name, got, c.e.Key.SamePartition)
		}
	}
	const day = 24 * time.Hour
	for i, want := range []time.Duration{14 * day, 8 * day, 14 * day, 14 * day} {
		policies := []model.FailurePolicy{bank.OnFailure, opened.OnFailure, posted.OnFailure, closed.OnFailure}
		if policies[i].Keep != want {
			t.Errorf("policy %d keeps for %v, want %v", i, policies[i].Keep, want)
		}
	}
	used := eventOf(t, topicOf(t, acceptedSpec(t, "small_events"), "colors.v1"), "Used").Key
	visited := eventOf(t, topicOf(t, acceptedSpec(t, "encoded_payloads"), "visits.v1"), "Visited").Key
	if len(used.Compared) != 0 || len(visited.Parts) != 2 {
		t.Errorf("%+v, %+v", used, visited)
	}
}

// An event whose copies are in one partition because the producer promises their record key has
// that key among its fields: a record without one may be in any partition, and must not decode.
func TestRecordKeyIsReadWhereItKeepsCopiesTogether(t *testing.T) {
	service := acceptedSpec(t, "header_keys")
	for _, topic := range service.Topics {
		for _, e := range topic.Events {
			for _, part := range topic.RecordKey.Parts {
				read := func(f *model.Field) bool { return f.Source.Part == part }
				if !e.Key.SamePartition || !slices.ContainsFunc(e.Fields, read) {
					t.Errorf("%s does not read %s of its record key", e.Name, part.Name)
				}
			}
		}
	}
}
