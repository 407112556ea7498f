package clientlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

// inWords is an error with its code; "" if there is none.
func inWords(err error) string {
	if err == nil {
		return ""
	}
	return refusal.Code(err) + ": " + err.Error()
}

// The texts are those of librdkafka 2.15, whose wording tells apart what its codes do not.
func TestCauses(t *testing.T) {
	const broker = "sasl_ssl://b:9092/bootstrap: "
	for text, c := range map[string]struct {
		code kafka.ErrorCode
		want string
	}{
		broker + "Disconnected: verify that security.protocol is correctly configured (after 2ms in state SSL_HANDSHAKE)":   {kafka.ErrTransport, inWords(refusal.InHandshake)},
		broker + "Disconnected while requesting ApiVersion: broker might require SSL (after 2ms in state APIVERSION_QUERY)": {kafka.ErrTransport, inWords(refusal.AtFirst)},
		broker + "Disconnected (after 9ms in state AUTH_HANDSHAKE, 3 identical error(s) suppressed)":                        {kafka.ErrTransport, inWords(refusal.InSASL)},
		broker + "SaslAuthenticateRequest failed: Local: Broker transport failure":                                          {kafka.ErrAuthentication, inWords(refusal.InSASL)},
		broker + "Disconnected (after 9ms in state UP)":                                                                     {kafka.ErrTransport, inWords(refusal.Later)},
		broker + "Send failed: Broken pipe (after 9ms in state UP, 1 identical error(s) suppressed)":                        {kafka.ErrTransport, inWords(refusal.Later)},
		broker + "Receive failed: Connection reset by peer (after 9ms in state UP)":                                         {kafka.ErrTransport, inWords(refusal.Later)},
		broker + "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener? (after 2ms in state SSL_HANDSHAKE)": {
			kafka.ErrSsl, inWords(refusal.InHandshake)},
		broker + "SSL handshake failed: certificate verify failed (after 2ms in state SSL_HANDSHAKE)": {
			kafka.ErrSsl, inWords(&refusal.Denied{Code: refusal.TLS, Cause: "SSL handshake failed: certificate verify failed"})},
		broker + "no certificate (after 2ms in state CONNECT)": {
			kafka.ErrSsl, inWords(&refusal.Denied{Code: refusal.TLS, Cause: "no certificate"})},
		broker + "SASL mechanism is not supported": {
			kafka.ErrTransport, inWords(&refusal.Denied{Code: refusal.Credentials, Cause: "SASL mechanism is not supported"})},
		broker + "wrong password (after 5ms in state AUTH_REQ)": {
			kafka.ErrAuthentication, inWords(&refusal.Denied{Code: refusal.Credentials, Cause: "wrong password"})},
		broker + "Connect to ipv4#127.0.0.1:9092 failed: Connection refused (after 0ms in state CONNECT)": {
			kafka.ErrTransport, "unavailable: Connect to ipv4#127.0.0.1:9092 failed: Connection refused"},
		"nothing known": {kafka.ErrResolve, "unavailable: nothing known"},
	} {
		if got := inWords(Cause(c.code, text)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, c.want)
		}
	}
}

// Error events about connections have a cause. The event that all brokers are down has that of the
// connection which failed last, as the client's log has it.
func TestCausesOfEvents(t *testing.T) {
	l := New(slog.New(slog.DiscardHandler), "b:1")
	cause := func(code kafka.ErrorCode) string {
		return inWords(l.CauseOf(kafka.NewError(code, "x: refused", false)))
	}
	for _, code := range []kafka.ErrorCode{kafka.ErrTransport, kafka.ErrResolve} {
		if got := cause(code); got != "unavailable: refused" {
			t.Errorf("%v: %s", code, got)
		}
	}
	for code, of := range map[kafka.ErrorCode]refusal.Denied{kafka.ErrSsl: {Code: refusal.TLS, Cause: "refused"}, kafka.ErrAuthentication: {Code: refusal.Credentials, Cause: "refused"}} {
		if got := cause(code); got != inWords(&of) {
			t.Errorf("%v: %s, want %s", code, got, inWords(&of))
		}
	}
	for _, code := range []kafka.ErrorCode{kafka.ErrAllBrokersDown, kafka.ErrTimedOut} {
		if got := cause(code); got != "" || l.Failed() != "" {
			t.Errorf("before a connection failed, %v: %s, %q", code, got, l.Failed())
		}
	}
	lines := make(chan kafka.LogEvent, 1)
	lines <- kafka.LogEvent{Tag: "FAIL", Level: 4, Message: "[thrd:b:1/bootstrap]: b:1/bootstrap: no route (after 1ms in state CONNECT)"}
	close(lines)
	l.Forward(t.Context(), lines)
	if got := cause(kafka.ErrAllBrokersDown); got != "unavailable: no route" || !strings.HasPrefix(l.Failed(), "b:1/bootstrap: no route") {
		t.Errorf("all are down: %s, %q", got, l.Failed())
	}
	if got := cause(kafka.ErrTimedOut); got != "" {
		t.Errorf("another event: %s", got)
	}
}

// An error is logged once in half a minute, and for developers only if the sink was told of it.
func TestErrorsAreReportedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), "b:1")
		lines := func(want string) {
			t.Helper()
			got := ""
			for line := range strings.Lines(out.String()) {
				_, line, _ = strings.Cut(line, " ")
				got += line
			}
			if out.Reset(); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		}
		const text = `msg="the Kafka client reports an error and keeps trying" err=down code=`
		down, late := kafka.NewError(kafka.ErrTransport, "down", false), kafka.NewError(kafka.ErrTimedOut, "down", false)
		l.Report(down, true)
		lines("level=DEBUG " + text + "-195\n")
		l.Report(down, false)
		l.Report(down, false)
		l.Report(late, false)
		lines("level=WARN " + text + "-195 brokers=b:1\nlevel=WARN " + text + "-185 brokers=b:1\n")
		time.Sleep(repeatInterval - 1)
		l.Report(down, false)
		lines("")
		time.Sleep(time.Nanosecond)
		l.Report(down, false)
		lines("level=WARN " + text + "-195 brokers=b:1\n")
	})
}

// The client's own lines have levels of this program: what events tell as well is for developers.
func TestLevelsOfLines(t *testing.T) {
	var out bytes.Buffer
	l := New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: trace})), "b:1")
	lines := make(chan kafka.LogEvent, 9)
	for _, line := range []kafka.LogEvent{
		{Tag: "FAIL", Level: 3}, {Tag: "ERROR", Level: 3}, {Tag: "A", Level: 0}, {Tag: "B", Level: 4}, {Tag: "C", Level: 5}, {Tag: "D", Level: 6, Message: "m"},
	} {
		lines <- line
	}
	close(lines)
	l.Forward(t.Context(), lines)
	var got []string
	for line := range strings.Lines(out.String()) {
		_, level, _ := strings.Cut(line, "level=")
		level, rest, _ := strings.Cut(level, " ")
		_, tag, _ := strings.Cut(rest, "tag=")
		got = append(got, level+" "+strings.TrimSpace(tag))
	}
	want := `DEBUG-4 FAIL text="", DEBUG-4 ERROR text="", WARN A text="", WARN B text="", INFO C text="", DEBUG-4 D text=m`
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}
