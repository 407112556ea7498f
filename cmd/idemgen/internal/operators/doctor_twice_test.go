package operators

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// shopCluster is a broker whose requests a test can hold up, with old records in the topic of the
// shop and a member in its group. The position of the shop is 7.
type shopCluster struct {
	*kfake.Cluster
	db      *pgxpool.Pool
	client  *kgo.Client
	member  *kgo.Client // of the group
	brokers string
}

func newShopCluster(t *testing.T, records int) *shopCluster {
	t.Helper()
	c := &shopCluster{db: aShop(t)}
	var err error
	if c.Cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders.v1")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.brokers = c.ListenAddrs()[0]
	if c.client, err = kgo.NewClient(kgo.SeedBrokers(c.brokers)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	c.produce(t, records)
	if c.member, err = kgo.NewClient(kgo.SeedBrokers(c.brokers), kgo.ConsumerGroup("order-projector"), kgo.ConsumeTopics("orders.v1"), kgo.DisableAutoCommit()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.member.CloseAllowingRebalance)
	for end := time.Now().Add(time.Minute); len(checkedAbout(t, "group", "ok", c.db, c.brokers)) == 0; {
		if time.Now().After(end) {
			t.Fatal("no member is in the group")
		}
	}
	return c
}

func (c *shopCluster) produce(t *testing.T, records int) {
	t.Helper()
	for range records {
		if err := c.client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders.v1", Timestamp: time.Now().Add(-time.Hour)}).FirstErr(); err != nil {
			t.Error(err)
		}
	}
}

func (c *shopCluster) commit(t *testing.T, offset int64) {
	t.Helper()
	c.commitWith(t, offset, nil)
}

// commitWith commits with metadata.
func (c *shopCluster) commitWith(t *testing.T, offset int64, metadata *string) {
	t.Helper()
	at := map[string]map[int32]kgo.EpochOffset{"orders.v1": {0: {Epoch: -1, Offset: offset}}}
	ctx := kgo.PreCommitFnContext(t.Context(), func(q *kmsg.OffsetCommitRequest) error {
		q.Topics[0].Partitions[0].Metadata = metadata
		return nil
	})
	c.member.CommitOffsetsSync(ctx, at, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, r *kmsg.OffsetCommitResponse, err error) {
		if err == nil {
			err = kerr.ErrorForCode(r.Topics[0].Partitions[0].ErrorCode)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// before does something once, before the broker answers a kind of request.
func (c *shopCluster) before(key kmsg.Key, do func()) {
	var once sync.Once
	c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		once.Do(func() { c.SleepControl(do) })
		return nil, nil, false
	})
}

const moveTo8 = `UPDATE idem_ledger SET kind = 'b', prev = 7, next = 8, written_at = now() WHERE (stream, seq) = (SELECT stream, max(seq) FROM idem_ledger GROUP BY 1)`

// What looks wrong because the service works between two questions of doctor is looked at twice,
// and not reported.
func TestDoctorLooksTwiceAtWhatLooksWrong(t *testing.T) {
	for name, disturb := range map[string]func(t *testing.T, c *shopCluster){
		"a record arrives and is applied": func(t *testing.T, c *shopCluster) {
			idemtest.Exec(t, c.db, `UPDATE idem_ledger SET written_at = written_at - interval '3 minutes'`)
			c.before(kmsg.ListOffsets, func() { c.produce(t, 1); idemtest.Exec(t, c.db, moveTo8) })
		},
		"a record is applied and its offset committed": func(t *testing.T, c *shopCluster) {
			c.produce(t, 1)
			c.before(kmsg.OffsetFetch, func() { c.commit(t, 8); idemtest.Exec(t, c.db, moveTo8) })
		},
		"the ledger begins and an offset is committed": func(t *testing.T, c *shopCluster) {
			idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 9`)
			c.before(kmsg.OffsetFetch, func() { c.commit(t, 7); idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 0`) })
		},
		"a record is applied and deleted": func(t *testing.T, c *shopCluster) {
			c.produce(t, 1)
			c.before(kmsg.ListOffsets, func() {
				var to kadm.Offsets
				to.AddOffset("orders.v1", 0, 8, -1)
				if _, err := kadm.NewClient(c.client).DeleteRecords(t.Context(), to); err != nil {
					t.Error(err)
				}
				idemtest.Exec(t, c.db, moveTo8)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newShopCluster(t, 7)
			disturb(t, c)
			code, out, _ := run(t, "doctor", "../../../../examples/orders", at(c.db), "--brokers", c.brokers)
			if strings.Contains(out, "partition orders.v1/0") || !strings.Contains(out, "1 partition, 1 with a ledger, 0 records not applied yet") {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// A fence, which a restart or a rebalance writes, is not progress: a partition whose records wait
// is reported in a crash loop as well.
func TestDoctorTakesNoFenceForProgress(t *testing.T) {
	t.Parallel()
	c := newShopCluster(t, 20)
	idemtest.Exec(t, c.db, `UPDATE idem_ledger SET written_at = written_at - interval '1 hour'`)
	idemtest.Exec(t, c.db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
		SELECT stream, seq + 1, gen_random_uuid(), next, next, 'f', epoch, def, parts, window_seq FROM idem_ledger ORDER BY stream, seq DESC LIMIT 1`)
	found := checkedAbout(t, "partition", "FAIL", c.db, c.brokers)
	for i := range found {
		found[i] = regexp.MustCompile(`1h0m\d+s`).ReplaceAllString(found[i], "1h")
	}
	want := []string{"partition orders.v1/0: no progress for 1h, although the record at offset 7 waits and the group has members"}
	if !slices.Equal(found, want) {
		t.Errorf("got %q, want %q", found, want)
	}
	c.before(kmsg.OffsetFetch, func() { idemtest.Exec(t, c.db, moveTo8) })
	wantLines(t, checkedAbout(t, "partition", "FAIL", c.db, c.brokers))
}

// An offset that the group has committed to Kafka, while the database knows nothing of the
// partition, is reported.
func TestDoctorFindsACommittedOffsetWithoutALedger(t *testing.T) {
	t.Parallel()
	c := newShopCluster(t, 7)
	c.commit(t, 5)
	idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 9`)
	wantLines(t, checkedAbout(t, "partition", "warn", c.db, c.brokers),
		"partition orders.v1/0: the group has committed offset 5 in Kafka, but the database has no ledger: the partition halts")
	idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 0`)
	c.commit(t, 8)
	wantLines(t, checkedAbout(t, "partition", "FAIL", c.db, c.brokers),
		"partition orders.v1/0: the group has committed offset 8 in Kafka, and the next record to apply is 7")
}

// A database that was restored is named, before its service runs and for a week afterwards. An
// empty one does not begin where this service has committed, whatever start_from says.
func TestDoctorNamesARestore(t *testing.T) {
	t.Parallel()
	c := newShopCluster(t, 7)
	of := ledger.Mark{Seq: 9, Consumer: "order-projector"}
	if err := c.db.QueryRow(t.Context(), `SELECT id FROM idem_stream`).Scan(&of.Stream); err != nil {
		t.Fatal(err)
	}
	mark := of.String()
	c.commitWith(t, 8, &mark)
	wantLines(t, checkedAbout(t, "partition", "FAIL", c.db, c.brokers),
		"partition orders.v1/0: the database lost commits: consumer order-projector has committed offset 8 in Kafka, and the next record to apply is 7")
	idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 9`)
	wantLines(t, checkedAbout(t, "partition", "FAIL", c.db, c.brokers),
		"partition orders.v1/0: a service of idemgen has committed offset 8 in Kafka, but the database has no ledger: the partition halts")
	c.commit(t, 5)
	idemtest.Exec(t, c.db, `UPDATE idem_stream SET partition = 0, lost_at = '2026-01-01 12:00Z', lost_from = 3, lost_to = 7`)
	wantLines(t, checkedAbout(t, "partition", "warn", c.db, c.brokers))
	idemtest.Exec(t, c.db, `UPDATE idem_stream SET lost_at = clock_timestamp()`)
	if got := checkedAbout(t, "partition", "warn", c.db, c.brokers); len(got) != 1 || !strings.Contains(got[0], "had lost commits, as after a restore or a failover: records from offset 3 to 6 were applied again") {
		t.Errorf("got %q", got)
	}
}
