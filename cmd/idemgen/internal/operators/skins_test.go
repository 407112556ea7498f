package operators

import (
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// plain is a text without tags, and with single blanks.
func plain(text string) string {
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))), " ")
}

// The page, stream list and doctor show the same problems, each with the same cause and the same
// ways out, and alarms name them in the same words.
func TestProblemsHaveTheSameWordsEverywhere(t *testing.T) {
	db := shop(t)
	t.Setenv("KAFKA_BROKERS", "")
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	if err := outbox.Write(t.Context(), db, outbox.Event{AggregateType: "a", AggregateID: "1", Type: "T"}); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT consumer, topic, topic_id, p FROM idem_stream, generate_series(1, 5) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 0, 0, 'g', 'w', -1, 3, 6, 0, clock_timestamp(), NULL, 'host, process 1' FROM idem_stream WHERE partition > 0;
INSERT INTO idem_ledger SELECT stream, 1, gen_random_uuid(), 0, 0, 'p', 'o', -1, 3, 6, 0, clock_timestamp(), NULL, 'operator ann: repair' FROM idem_stream WHERE partition = 5;
UPDATE idem_stream SET lost_at = clock_timestamp(), lost_from = 3, lost_to = 7 WHERE partition = 4;
UPDATE idem_outbox SET written_at = now() - interval '2 minutes'`)
	process(t, db, "order-projector", "a, process 1", 1, "0 HALTED record-refused", "1 HALTED record-refused", "2 BACKOFF backoff", "4 READY", "5 PAUSED paused")
	process(t, db, "order-projector", "b, process 2", 60, "3 READY")

	state, err := operate.StateOf(t.Context(), db, "order-projector")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, p := range state.Problems {
		codes = append(codes, p.Code)
	}
	if got := strings.Join(codes, " "); got != "record-refused dead-letters no-relay not-reported backoff paused lost-commits fell-silent" {
		t.Errorf("problems: %s", got)
	}
	handler, err := console.Handler(t.Context(), console.Options{
		Database: db.Config().ConnString(), Operator: db.Config().ConnString(), Hosts: []string{"example.com"}, Logger: slog.New(slog.DiscardHandler),
		Auth: func(*http.Request) (console.User, error) { return console.User{Name: "ana", Act: true}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://example.com/", http.NoBody))
	body, err := io.ReadAll(answer.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	var checks struct {
		Checks []struct{ Found, Advice string }
	}
	_, text, _ := run(t, "doctor", "../../../../examples/orders", at(db), "--json")
	if err := json.Unmarshal([]byte(text), &checks); err != nil {
		t.Fatal(err)
	}
	doctor := ""
	for _, c := range checks.Checks {
		doctor += c.Found + "\n" + c.Advice + "\n"
	}
	alarms, err := os.ReadFile("../../../../deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for code, words := range map[string]string{
		"record-refused": "halted", "dead-letters": "dead letters", "no-relay": "no relay sends the outbox", "paused": "paused", "lost-commits": "the database lost commits",
	} {
		i := slices.IndexFunc(state.Problems, func(p operate.Problem) bool { return p.Code == code })
		if i < 0 || !strings.Contains(state.Problems[i].Title, words) || !strings.Contains(string(alarms), words) {
			t.Errorf("the problem %s and its alarm do not both say %q: %s", code, words, state.Problems[max(i, 0)].Title)
		}
	}
	page, list, doctor := plain(string(body)), plain(must(t, "stream", "list", "--consumer", "order-projector", at(db))), plain(doctor)
	for _, p := range state.Problems {
		cause := regexp.MustCompile(`\d+m?\d*s|pid.*`).Split(p.Cause, 2)[0] // what differs from one moment to the next
		first, size := utf8.DecodeRuneInString(cause)
		for skin, has := range map[string]bool{
			"page": strings.Contains(page, plain(string(unicode.ToUpper(first))+cause[size:])) || strings.Contains(page, plain(cause)), "list": strings.Contains(list, plain(cause)), "doctor": strings.Contains(doctor, plain(cause)),
		} {
			if !has {
				t.Errorf("%s does not say of %s: %s", skin, p.Code, cause)
			}
		}
		for _, line := range p.Advice() {
			if !strings.Contains(list, plain(line)) || !strings.Contains(doctor, plain(line)) {
				t.Errorf("%s: list and doctor do not both say: %s", p.Code, line)
			}
		}
	}
}
