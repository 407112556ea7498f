package scaffold

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func service(handled bool) *model.Service {
	return &model.Service{
		Consumer: "order-projector", Package: "orders",
		Topics: []*model.Topic{{Events: []*model.Event{{GoName: "OrderPlaced"}, {GoName: "OrderPaid", Code: model.Code{Handle: handled}}}}},
	}
}

func render(t *testing.T) func(data []byte, err error) string {
	return func(data []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

func TestHandlerHaltsAndNamesTheMethod(t *testing.T) {
	got := render(t)(Handler(service(true)))
	for _, want := range []string{
		"func (Service) OrderPaid(ctx context.Context, tx idem.Tx, e OrderPaid) error {\n",
		`fmt.Errorf("OrderPaid: %w", idem.ErrNotImplemented)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "OrderPlaced") {
		t.Error("a method for an event without handle")
	}
}

func TestMainPassesTheHandlerIfThereIsOne(t *testing.T) {
	with := render(t)(Main(service(true), "example.com/orders", "confluent"))
	without := render(t)(Main(service(false), "example.com/svc/order-events", "confluent"))
	if !strings.Contains(with, "orders.NewConsumer(db, orders.Service{}, idem.WithHooks(metrics))") || !strings.Contains(with, "\t\"example.com/orders\"\n") {
		t.Error(with)
	}
	if !strings.Contains(without, "orders.NewConsumer(db, idem.WithHooks(metrics))") || !strings.Contains(without, `orders "example.com/svc/order-events"`) {
		t.Error(without)
	}
	schemas := service(true)
	schemas.Topics[0].Payload.Messages = &model.Messages{Avro: true, Framed: true}
	if text := render(t)(Main(schemas, "example.com/orders", "franz")); !strings.Contains(text, "orders.NewConsumer(db, registry.New(schemas), orders.Service{}, ") || !strings.Contains(text, "SCHEMA_REGISTRY_URL is not set") {
		t.Error(text)
	}
	for _, name := range []string{"KAFKA_BROKERS", "DATABASE_URL"} {
		if !strings.Contains(with, `errors.New("`+name+` is not set")`) {
			t.Errorf("an empty %s is not refused", name)
		}
	}
}

// Whatever a package may be called, the program compiles: no name of the program hides that
// of the package, and no package a name that the program uses.
func TestMainImportsPackagesOfAnyName(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", render(t)(Main(service(true), "example.com/orders", "confluent")), 0)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"error", "nil", "string", "byte", "append"}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == strings.ToLower(id.Name) && id.Name != "orders" && id.Name != "main" && id.Name != "_" {
			names = append(names, id.Name)
		}
		return true
	})
	for _, name := range names {
		s := service(true)
		s.Package = name
		if text := render(t)(Main(s, "example.com/"+name, "franz")); !strings.Contains(text, "\t"+name+"pkg \"example.com/"+name+"\"\n") || !strings.Contains(text, " "+name+"pkg.NewConsumer(") {
			t.Errorf("package %s:\n%s", name, text)
		}
	}
}

func TestSetupHoldsOnlyWhatIsAskedFor(t *testing.T) {
	for _, tc := range []struct{ handler, log bool }{{true, true}, {true, false}, {false, true}} {
		got := render(t)(Setup(service(true), Needs{TestHandler: tc.handler, TestLog: tc.log}))
		if strings.Contains(got, "func newTestHandler(") != tc.handler || strings.Contains(got, "pgxpool") != tc.handler ||
			strings.Contains(got, "func editTestLog(") != tc.log || strings.Contains(got, "idemtest") != tc.log {
			t.Errorf("%+v:\n%s", tc, got)
		}
	}
}
