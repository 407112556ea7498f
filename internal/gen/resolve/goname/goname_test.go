package goname

import "testing"

func TestGoName(t *testing.T) {
	for text, want := range map[string]string{
		"order_id": "OrderID", "id": "ID", "orders.v1": "OrdersV1", "api_url": "APIURL", "order_ids": "OrderIDs", "urls": "URLs",
		"customer": "Customer", "IN_TRANSIT": "InTransit", "call-center": "CallCenter", "orderPlaced": "OrderPlaced", "sku_uuid": "SKUUUID",
		"shop.public.customers": "ShopPublicCustomers", "http_json": "HTTPJSON", "größe": "Größe", "identity": "Identity", "v": "V", "+": "", "2nd": "2nd",
	} {
		if got := Of(text); got != want {
			t.Errorf("goName(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFileName(t *testing.T) {
	for text, want := range map[string]string{"orders.v1": "orders_v1", "Orders-V1": "orders_v1", "stock": "stock"} {
		if got := File(text); got != want {
			t.Errorf("fileName(%q) = %q, want %q", text, got, want)
		}
	}
}
