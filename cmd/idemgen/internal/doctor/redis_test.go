package doctor

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/redistest"
)

// Of a Cluster, all masters are looked at, whichever server the address is of.
func TestEveryMasterOfAClusterIsLookedAt(t *testing.T) {
	cluster := redistest.StartCluster(t)
	e := &examination{Service: Service{Effects: true}, Around: Around{Redis: "redis://" + cluster.Addrs()[0]}}
	e.redis(t.Context())
	if got := found(e); len(e.checks) != 3 || strings.Count(got, "warn redis: Redis 127.0.0.1:") != 3 || strings.Count(got, "appendonly is off") != 3 {
		t.Error(got)
	}
}
