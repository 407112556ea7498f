package generator

import "testing"

func TestNamesFromTheImportPath(t *testing.T) {
	for _, tc := range []struct{ importPath, consumer, pkg string }{
		{"example.com/orders", "orders", "orders"},
		{"example.com/Order-Events", "order-events", "orderevents"},
		{"example.com/orders/v2", "orders", "orders"},
		{"example.com/42nd.street_shop", "nd-street-shop", "ndstreetshop"},
		{"example.com/main", "main", "events"},
		{"example.com/7", "events", "events"},
		{"example.com/switch", "switch", "events"},
	} {
		if got := consumerName(tc.importPath); got != tc.consumer {
			t.Errorf("consumer of %s: %s, want %s", tc.importPath, got, tc.consumer)
		}
		if got := packageName(tc.importPath); got != tc.pkg {
			t.Errorf("package of %s: %s, want %s", tc.importPath, got, tc.pkg)
		}
	}
}
