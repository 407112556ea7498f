package seedlog

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestValuesFitTheirColumns(t *testing.T) {
	for _, c := range []struct {
		class class
		kind  model.Kind
		n     int
		want  string
	}{
		{class{}, model.String, 12, "customer_id 12"},
		{class{length: 20}, model.String, 12, "customer_id 12"},
		{class{length: 9}, model.String, 12, "cus12"},
		{class{length: 3}, model.String, 12, "c12"},
		{class{length: 2}, model.String, 12, "12"},
		{class{length: 1}, model.String, 12, "2"},
		{class{length: 20, exactly: true}, model.String, 12, "cus00000000000000012"},
		{class{length: 3, exactly: true}, model.String, 1, "cu1"},
		{class{length: 2, exactly: true}, model.String, 123, "23"},
		{class{uuid: true}, model.String, 12, "00000000-0000-4000-8000-000000000012"},
		{class{whole: -1, fraction: -1}, model.Decimal, 12, "12.50"},
		{class{whole: -1, fraction: -1, row: true}, model.Decimal, 12, "12"},
		{class{whole: 1, fraction: 1}, model.Decimal, 12, "2.5"},
		{class{whole: 0, fraction: 4}, model.Decimal, 12, "0.50"},
		{class{whole: 3, fraction: 0}, model.Decimal, 12, "12"},
		{class{whole: 1, fraction: 2}, model.Int32, 12, "2"},
	} {
		if got := scalar(model.FieldType{Kind: c.kind}, &c.class, "customer_id", c.n); got != c.want {
			t.Errorf("%+v kind %d number %d: %q, want %q", c.class, c.kind, c.n, got, c.want)
		}
	}
}
