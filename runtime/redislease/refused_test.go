package redislease_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// set names a set of leases as a process does: the database's id, and the consumer.
const (
	database = "0123456789abcdef0123456789abcdef"
	set      = database + ":test"
)

var (
	key  = wire.Key{0xab}
	name = "idem:" + set + ":ab" + strings.Repeat("0", 30)
	held = lease.Hold{Key: key, Owner: wire.UUID{1}, Token: 5}
	ask  = lease.Ask{Key: key, Owner: wire.UUID{1}, Token: 5, Term: time.Minute, Keep: time.Hour, Content: lease.Content{Def: 1, Print: 2}}
	end  = lease.End{Hold: held, State: lease.Done, Result: []byte("a result that is secret"), Error: "an error that is secret", Attempts: 1}
)

// questions are all that a store is asked, of the lease that held has, and by ask.
func questions(s *redislease.Store, ask lease.Ask) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Acquire": func(ctx context.Context) error {
			_, err := s.Acquire(ctx, set, []lease.Ask{ask})
			return err
		},
		"Extend": func(ctx context.Context) error {
			_, err := s.Extend(ctx, set, []lease.Hold{held})
			return err
		},
		"Record": func(ctx context.Context) error {
			_, err := s.Record(ctx, set, []lease.End{end})
			return err
		},
	}
}

// everyQuestion asks a store all that it is asked, and holds each error to what a person must act
// on, or waits for.
func everyQuestion(t *testing.T, s *redislease.Store, ask lease.Ask, broken bool, says string) {
	t.Helper()
	for question, do := range questions(s, ask) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := do(ctx)
		cancel()
		if err == nil {
			t.Errorf("%s: no error, and none with %q", question, says)
			continue
		}
		if _, is := errors.AsType[*lease.Broken](err); is != broken || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v: broken %v, want %v with %q", question, err, is, broken, says)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells what was recorded: %v", question, err)
		}
	}
}

// What is no lease is taken by nobody, told with its name, and stays as it is.
func TestWhatIsNoLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	c := client(t, s)
	whole := []string{"state", "p", "owner", held.Owner.String(), "token", "5", "attempts", "1", "def", "1", "fp", "2", "term", "1000", "interrupts", "0", "keep", "1000", "expires", "0"}
	without := func(field string) (all []string) {
		for i := 0; i < len(whole); i += 2 {
			if whole[i] != field {
				all = append(all, whole[i:i+2]...)
			}
		}
		return all
	}
	for says, make := range map[string][]string{
		"it is a string, not a hash":        {"SET", name, "secret"},
		"it is a list, not a hash":          {"RPUSH", name, "secret"},
		"its state is unknown":              append([]string{"HSET", name, "state", "x"}, without("state")...),
		"its field state is missing":        append([]string{"HSET", name}, without("state")...),
		"its field owner is missing":        append([]string{"HSET", name}, without("owner")...),
		"its field token is missing":        append([]string{"HSET", name}, without("token")...),
		"its field expires is missing":      append([]string{"HSET", name}, without("expires")...),
		"its field token is not a number":   append([]string{"HSET", name, "token", "-5"}, without("token")...),
		"its field term is not a number":    append([]string{"HSET", name, "term", "1e3"}, without("term")...),
		"its field expires is not a number": append([]string{"HSET", name, "expires", "soon"}, without("expires")...),
	} {
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Do(t.Context(), make...); err != nil {
			t.Fatal(err)
		}
		before := c.Dump(t.Context(), name).Val()
		everyQuestion(t, redislease.New(c), ask, true, name+" in Redis is not a valid lease: "+says)
		if after := c.Dump(t.Context(), name).Val(); after != before || before == "" {
			t.Errorf("%s: it was changed", says)
		}
	}
}

// Without a token there is no lease.
func TestAskWithoutToken(t *testing.T) {
	t.Parallel()
	a := ask
	a.Token = 0
	_, err := redislease.New(client(t, redistest.Start(t, nil))).Acquire(t.Context(), set, []lease.Ask{a})
	if _, is := errors.AsType[*lease.Broken](err); !is {
		t.Errorf("error %v", err)
	}
}

// Rights are a person's work.
func TestRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	for _, c := range []struct{ rule, says string }{
		{"-pexpire", "pexpire"},
		{"-evalsha", "NOPERM"},
		{"-@all", "NOPERM"},
	} {
		user := "user" + strings.Trim(c.rule, "-@")
		if _, err := s.Do(t.Context(), "ACL", "SETUSER", user, "on", ">pw", "~idem:*", "+@all", c.rule); err != nil {
			t.Fatal(err)
		}
		limited := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: user, Password: "pw"})
		defer limited.Close()
		if _, err := redislease.New(limited).Acquire(t.Context(), set, []lease.Ask{ask}); err == nil {
			t.Errorf("%s: a lease was had", c.rule)
		} else if _, is := errors.AsType[*lease.Broken](err); !is {
			t.Errorf("%s: %v is no error for people", c.rule, err)
		}
	}
	wrong := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: "userpexpire", Password: "another"})
	defer wrong.Close()
	everyQuestion(t, redislease.New(wrong), ask, true, "WRONGPASS")
}

// documentedRights is the command of production.md that grants rights, and more of them.
func documentedRights(t *testing.T, more ...string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(page), "\nACL SETUSER ")
	if !found {
		t.Fatal("docs/production.md grants no rights of Redis")
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(strings.ReplaceAll(line, ":notifications:", ":test:"))
	return append(append([]string{"ACL", "SETUSER"}, words...), more...)
}

// The rights that production.md grants are enough, also for locks.
func TestDocumentedRightsOfRedisAreEnough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	if _, err := s.Do(t.Context(), documentedRights(t)...); err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: "notifications", Password: "secret"})
	defer c.Close()
	store := redislease.New(c)
	for question, do := range questions(store, ask) {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s: %v", question, err)
		}
	}
	if _, err := store.Acquire(t.Context(), database+":"+lease.Locks("refunds"), []lease.Ask{ask}); err != nil {
		t.Errorf("a lock: %v", err)
	}
	if warnings, err := store.Check(t.Context()); err != nil || len(warnings) != 1 {
		t.Errorf("Check: %q (%v)", warnings, err)
	}
}

// A server that cannot answer now is asked again.
func TestServerThatIsAway(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	primary := redistest.Start(t, nil)
	_, port, _ := strings.Cut(primary.Addr(), ":")
	replica := redistest.Start(t, map[string]string{"replicaof": "127.0.0.1 " + port})
	full := redistest.Start(t, nil)
	gone := redistest.Start(t, nil)
	frozen := redistest.Start(t, nil)
	lonely := redistest.Start(t, map[string]string{"cluster-enabled": "yes"})
	if _, err := redislease.New(client(t, full)).Acquire(t.Context(), set, []lease.Ask{ask}); err != nil {
		t.Fatal(err)
	}
	_, err := full.Do(t.Context(), "CONFIG", "SET", "maxmemory", "1")
	if err := errors.Join(err, gone.Crash(), frozen.Freeze()); err != nil {
		t.Fatal(err)
	}
	another := ask
	another.Key = wire.Key{0xac}
	for _, c := range []struct {
		of   *redistest.Server
		says string // "" is anything: the port of a server that is gone may be somebody else's by now
	}{
		{replica, "READONLY"}, {full, "OOM"}, {gone, ""}, {frozen, "i/o timeout"}, {lonely, "CLUSTERDOWN"},
	} {
		hasty := redis.NewClient(&redis.Options{Addr: c.of.Addr(), ReadTimeout: 300 * time.Millisecond, MaxRetries: 1})
		everyQuestion(t, redislease.New(hasty), another, false, c.says)
		hasty.Close()
	}
}

// A question ends with its context, whatever time-outs the client has.
func TestQuestionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	c := client(t, s)
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	defer s.Thaw()
	for question, do := range questions(redislease.New(c), ask) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		begun := time.Now()
		if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > time.Minute {
			t.Errorf("%s: %v after %v", question, err, time.Since(begun))
		}
		cancel()
	}
}

// A Cluster's client needs the rights that production.md names beside them.
func TestDocumentedRightsOfAClusterAreEnough(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	for _, s := range cluster.Servers {
		if _, err := s.Do(t.Context(), documentedRights(t, "+cluster|slots", "+cluster|shards")...); err != nil {
			t.Fatal(err)
		}
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), Username: "notifications", Password: "secret"})
	defer c.Close()
	for question, do := range questions(redislease.New(c), ask) {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s: %v", question, err)
		}
	}
}
