package member_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// logs is a broker with one partition, whose log another one replaces: that of a broker that
// lacked its end and was elected all the same, or that of an earlier state of the cluster.
type logs struct {
	t    *testing.T
	dir  string // of the log that is served
	port int

	cluster *kfake.Cluster
	stop    func()
}

func newLogs(t *testing.T) *logs {
	free, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	logs := &logs{t: t, dir: t.TempDir(), port: free, stop: func() {}}
	logs.serve()
	t.Cleanup(func() { logs.stop() })
	return logs
}

func (l *logs) brokers() string { return fmt.Sprintf("127.0.0.1:%d", l.port) }

// serve starts the broker.
func (l *logs) serve() {
	l.t.Helper()
	c, _ := startCluster(l.t, 1, kfake.DataDir(l.dir), kfake.Ports(l.port))
	l.cluster, l.stop = c, c.Close
}

// copied is a copy of the log as it is now.
func (l *logs) copied() (dir string) {
	l.t.Helper()
	l.stop()
	dir = l.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(l.dir)); err != nil {
		l.t.Fatal(err)
	}
	l.serve()
	return dir
}

// elect has another log elected leader, n times, and has n records produced to it before anybody
// reads it.
func (l *logs) elect(dir string, elections, n int) {
	l.t.Helper()
	l.stop()
	c, brokers := startCluster(l.t, 1, kfake.DataDir(dir))
	for range elections {
		c.ShufflePartitionLeaders()
	}
	produce(l.t, brokers, n, 0)
	c.Close()
	l.dir = dir
	l.serve()
}

// run runs a consumer until stop is called.
func run(t *testing.T, db *pgxpool.Pool, s idem.Source) (c *idem.Consumer, stop func()) {
	return runOf(t, consumer(t, db), s)
}

func runOf(t *testing.T, c *idem.Consumer, s idem.Source) (_ *idem.Consumer, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, s) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return c, stop
}

func applied(t *testing.T, db *pgxpool.Pool) int {
	return query(t, db, `SELECT count(*)::int FROM diary`)
}

// set follows a command that Health prints.
func set(t *testing.T, db *pgxpool.Pool, from, to int64) {
	t.Helper()
	n := operate.Name{Consumer: "orders", Topic: topicName}
	if _, err := operate.Set(t.Context(), db, n, operate.Target{From: from, To: to, ApplyAgain: to < from}, operate.By{Reason: "log-truncated"}); err != nil {
		t.Fatal(err)
	}
}

// halts waits until the partition is halted, with a command.
func halts(t *testing.T, db *pgxpool.Pool, c *idem.Consumer, most int, command string) {
	t.Helper()
	eventually(t, "the partition halts, and names the command", func() bool {
		err := c.Health().Err()
		return applied(t, db) > most || err != nil && strings.Contains(err.Error(), "HALTED") && strings.Contains(err.Error(), command)
	})
	if n := applied(t, db); n > most {
		t.Fatalf("%d records took effect, want %d", n, most)
	}
}

// An unclean leader election cuts the log at 50, below the position 100, and it grows to 130. The
// leader epoch proves it: no record behind the hole takes effect, and the command leads to 50.
func TestLogThatWasCutAndHasGrownHalts(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarted=%v", restarted), func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				logs, db := newLogs(t), diaryDB(t)
				produce(t, logs.brokers(), 50, 0)
				short := logs.copied()
				c, stop := run(t, db, open(t, logs.brokers(), k))
				produce(t, logs.brokers(), 50, 0)
				eventually(t, "100 records", func() bool { return applied(t, db) == 100 })
				if restarted {
					stop()
				}
				logs.elect(short, 1, 80)
				if restarted {
					c, _ = run(t, db, open(t, logs.brokers(), k))
				}
				halts(t, db, c, 100, "--from 100 --to 50 --apply-again --reason log-truncated")
				set(t, db, 100, 50)
				eventually(t, "what was written since the cut takes effect", func() bool { return applied(t, db) == 180 && c.Health().Err() == nil })
			})
		})
	}
}

// epochs writes down under which leader epoch a record was read.
type epochs struct{ diary }

func (d *epochs) Add(b *wire.Batch, m *wire.Message) error {
	read := *m
	read.Partition = m.LeaderEpoch
	return d.diary.Add(b, &read)
}

// An unclean leader election cuts the log at 90, among records that were fetched and wait for a
// lock of the database, and it grows past them. What takes their place is not passed over.
func TestLogThatWasCutAmongFetchedRecordsHalts(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		logs, db := newLogs(t), diaryDB(t)
		produce(t, logs.brokers(), 80, 0)
		c, _ := runOf(t, consumerOf(t, db, func() wire.Plan { return &epochs{} }), open(t, logs.brokers(), k))
		eventually(t, "80 records", func() bool { return applied(t, db) == 80 })
		tx, err := db.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), `LOCK TABLE diary IN EXCLUSIVE MODE`)
		}
		if err != nil {
			t.Fatal(err)
		}
		produce(t, logs.brokers(), 10, 0)
		short := logs.copied()
		produce(t, logs.brokers(), 20, 0)
		eventually(t, "the records are fetched", func() bool {
			all := c.Stats().Partitions
			return len(all) == 1 && all[0].End == 110
		})
		logs.elect(short, 1, 60)
		time.Sleep(2 * time.Second) // for the client to notice, in its own way, and for comparisons
		_ = tx.Rollback(t.Context())
		written := func() int { return query(t, db, `SELECT count(*)::int FROM diary WHERE partition = 1`) }
		followed := false
		eventually(t, "what was written since the cut takes effect", func() bool {
			if err := c.Health().Err(); !followed && err != nil && strings.Contains(err.Error(), " --to 90 --apply-again --reason log-truncated") {
				followed = true
				set(t, db, int64(query(t, db, `SELECT max(next)::int FROM idem_ledger`)), 90)
			}
			return written() == 60 && c.Health().Err() == nil
		})
	})
}

// A cluster that was restored has lower leader epochs under the same topic id. The partition halts
// before any of its records takes effect, and both ways out are named.
func TestLowerEpochUnderTheSameTopicHalts(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		logs, db := newLogs(t), diaryDB(t)
		produce(t, logs.brokers(), 50, 0)
		earlier := logs.copied()
		logs.elect(logs.copied(), 3, 50)
		c, stop := run(t, db, open(t, logs.brokers(), k))
		eventually(t, "100 records", func() bool { return applied(t, db) == 100 })
		logs.elect(earlier, 1, 80)
		halts(t, db, c, 100, "--from 100 --to 100 --reason log-truncated")
		if err := c.Health().Err(); !strings.Contains(err.Error(), "--from 100 --to 0 --apply-again") {
			t.Error(err)
		}
		stop() // librdkafka believes no lower epoch before it is started again
		set(t, db, 100, 100)
		c, _ = run(t, db, open(t, logs.brokers(), k))
		eventually(t, "the records from the position on take effect", func() bool { return applied(t, db) == 130 && c.Health().Err() == nil })
	})
}

// A cluster that was restored may have a later epoch than the ledger again. Its records before
// that have lower ones, so the partition halts before any of them takes effect.
func TestLowerEpochBeforeALaterOneHalts(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		logs, db := newLogs(t), diaryDB(t)
		produce(t, logs.brokers(), 50, 0)
		earlier := logs.copied()
		logs.elect(logs.copied(), 3, 50)
		_, stop := run(t, db, open(t, logs.brokers(), k))
		eventually(t, "100 records", func() bool { return applied(t, db) == 100 })
		stop()
		logs.elect(earlier, 1, 80)
		logs.elect(logs.copied(), 3, 1)
		c, _ := run(t, db, open(t, logs.brokers(), k))
		halts(t, db, c, 100, "before offset 100, the log has no leader epoch 3")
	})
}

// The leader changes in order, with a transaction's marker at the end of the log, or without: no
// record is lost, and nothing halts, also after a restart.
func TestElectionInOrderHaltsNothing(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		logs, db := newLogs(t), diaryDB(t)
		produce(t, logs.brokers(), 50, 0)
		c, stop := run(t, db, open(t, logs.brokers(), k))
		eventually(t, "50 records", func() bool { return applied(t, db) == 50 })
		logs.elect(logs.copied(), 1, 30)
		eventually(t, "80 records", func() bool { return applied(t, db) == 80 && c.Health().Err() == nil })
		markLater(t, logs)
		eventually(t, "the position passes the marker", func() bool {
			return query(t, db, `SELECT max(next)::int FROM idem_ledger`) == 82 && applied(t, db) == 81
		})
		stop()
		logs.elect(logs.copied(), 1, 30)
		c, _ = run(t, db, open(t, logs.brokers(), k))
		eventually(t, "all records", func() bool { return applied(t, db) == 111 && c.Health().Err() == nil })
	})
}

// A client that waits at the end of a log learns from the next election that the log was cut below
// it. The sink is asked again.
func TestPositionThatAnElectionCutIsAskedAbout(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 50, 0)
		cluster.ShufflePartitionLeaders()
		produce(t, brokers, 80, 0)
		sink := newSink(t, newLedger())
		sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			at := idem.Position{Offset: 130, Epoch: 0}
			if end, err := a.EpochEnd(t.Context(), at); err == nil && end != 50 {
				t.Errorf("the epoch ends at %d, want 50", end)
			}
			return at, nil
		}
		s := open(t, brokers, k)
		s.pace.Silence, s.pace.Compare = time.Hour, time.Hour // only the report counts
		s.metadata = 200 * time.Millisecond
		start(t, s, subscription(), sink)
		eventually(t, "the first take-over", func() bool { return sink.owns() == 1 })
		elected := time.Time{}
		eventually(t, "the partition is asked about again", func() bool {
			if time.Since(elected) > 5*time.Second { // the client may not have waited yet
				cluster.ShufflePartitionLeaders()
				elected = time.Now()
			}
			return sink.seen("Assigned 0") >= 2
		})
	})
}

// markLater writes a record in a transaction, whose marker has a later leader epoch.
func markLater(t *testing.T, l *logs) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(l.brokers()), kgo.TransactionalID("late"), kgo.DefaultProduceTopic(topicName))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := c.ProduceSync(t.Context(), &kgo.Record{Topic: topicName, Value: []byte("t")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	l.cluster.ShufflePartitionLeaders()
	if err := c.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
}

// librdkafka takes each position for valid if the brokers do not accept its version of the request
// for the end of an epoch. Then the partition is not taken over, and the reason names the way out.
func TestBrokersThatDoNotCompareEpochsAreRefused(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, err := kfake.NewCluster(clusterOptions(1)...) // from version 3 on
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		brokers := cluster.ListenAddrs()[0]
		produce(t, brokers, 50, 0)
		cluster.ShufflePartitionLeaders()
		produce(t, brokers, 80, 0)
		replies := make(chan string, 100)
		sink := newSink(t, newLedger())
		sink.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
			end, err := a.EpochEnd(ctx, idem.Position{Offset: 130, Epoch: 0})
			replies <- fmt.Sprint(end, " ", err)
			return idem.Position{Offset: 130, Epoch: -1}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		want := map[string]string{"confluent": "use package franz", "franz": "50 <nil>"}[k.client.name]
		eventually(t, "a reply", func() bool { return len(replies) > 0 })
		if got := <-replies; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestUnknownLeaderEpochComparesNothing: a position stays valid if the broker does not know the
// leader epoch of the end of the log.
func TestUnknownLeaderEpochComparesNothing(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 100, 0)
		cluster.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			request := r.(*kmsg.ListOffsetsRequest)
			response := request.ResponseKind().(*kmsg.ListOffsetsResponse)
			for _, t := range request.Topics {
				topic := kmsg.NewListOffsetsResponseTopic()
				topic.Topic = t.Topic
				for _, p := range t.Partitions {
					is := kmsg.NewListOffsetsResponseTopicPartition()
					is.Partition, is.Offset, is.LeaderEpoch = p.Partition, 100, -1
					if p.Timestamp == -2 {
						is.Offset = 0
					}
					topic.Partitions = append(topic.Partitions, is)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response, nil, true
		})
		l := newLedger()
		sink := newSink(t, l)
		sink.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
			if end, err := a.EpochEnd(ctx, idem.Position{Offset: 80, Epoch: 0}); end < 80 || err != nil {
				t.Errorf("the position 80 of epoch 0 ends at %d (%v)", end, err)
			}
			return idem.Position{Offset: 80, Epoch: 0}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "20 records", func() bool { return l.count() == 20 })
	})
}
