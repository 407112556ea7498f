package cutproxy

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool returns a proxy in front of the database of db, and a pool like db whose connections pass
// through the proxy. Both are closed when the test ends.
func Pool(t testing.TB, db *pgxpool.Pool) (*Proxy, *pgxpool.Pool) {
	t.Helper()
	config := db.Config()
	proxy, err := New(pgconn.NetworkAddress(config.ConnConfig.Host, config.ConnConfig.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	config.ConnConfig.Host, config.ConnConfig.Port = proxy.Addr().IP.String(), uint16(proxy.Addr().Port)
	config.ConnConfig.TLSConfig, config.ConnConfig.Fallbacks = nil, nil
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return proxy, pool
}
