package outbox

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A service sends, and its relay works, with the rights that docs/operations.md grants.
func TestDocumentedRightsAreEnoughToSend(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	grant := regexp.MustCompile(`GRANT [A-Z, ]+ ON idem_outbox_\w+ TO shop_service;`).FindAllString(string(page), -1)
	if len(grant) != 1 {
		t.Fatalf("the page has %d grants on an outbox, want 1", len(grant))
	}
	db := database(t)
	role := db.Config().ConnConfig.Database + "_sends" // roles are the server's
	idemtest.Exec(t, db, `CREATE ROLE `+role+` LOGIN PASSWORD 'sends'`)
	t.Cleanup(func() {
		if _, err := db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role); err != nil {
			t.Error(err)
		}
	})
	names := strings.NewReplacer("idem_outbox_order_projector", table.Table, "shop_service", role)
	idemtest.Exec(t, db, names.Replace(grant[0]))

	config := db.Config()
	config.ConnConfig.User, config.ConnConfig.Password = role, "sends"
	service := poolWith(t, config)
	insert(t, service, "orders", "k", []byte("1"))
	kafka := &memory{}
	relay, log := newRelay(service, kafka)
	stop := start(t, t.Context(), relay)
	wantValues(t, kafka, "1")
	eventually(t, "what was sent is deleted", isEmpty(t, db))
	if err := stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "42501") || strings.Contains(log.String(), "permission denied") {
		t.Errorf("a right was missed: %s", log)
	}
}
