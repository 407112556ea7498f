package welcomemail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct {
	Server string // host:port of the mail server
	From   string // address of the sender
}

// UserCreated sends the welcome mail. Up to the end of its text nothing is sent, whatever goes
// wrong. Then nobody knows, until the server answers.
func (s Service) UserCreated(ctx context.Context, e UserCreated) (Sent, error) {
	client, done, err := s.dial(ctx)
	if err != nil {
		return Sent{}, idem.Unavailable(err)
	}
	defer done()
	delivery, _ := idem.DeliveryFrom(ctx)
	_, domain, _ := strings.Cut(s.From, "@")
	sent := Sent{MessageID: delivery.Key.String() + "@" + domain, SentAt: time.Now().UTC().Truncate(time.Second)}
	if err := client.Mail(s.From); err != nil {
		return Sent{}, refused(err)
	}
	if err := client.Rcpt(e.Email); err != nil {
		return Sent{}, refused(err)
	}
	text, err := client.Data()
	if err != nil {
		return Sent{}, refused(err)
	}
	if _, err := fmt.Fprint(text, mail(s.From, e, sent)); err != nil {
		return Sent{}, idem.Unavailable(err) // without its end the server drops it
	}
	if err := text.Close(); err != nil {
		if _, answered := errors.AsType[*textproto.Error](err); answered {
			return Sent{}, refused(err)
		}
		return Sent{}, idem.Interrupted(errors.New("the mail server did not say whether it took the mail"))
	}
	return sent, nil
}

// dial connects to the mail server. The connection ends with the context, or when done is called.
func (s Service) dial(ctx context.Context) (client *smtp.Client, done func(), err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Server)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	host, _, _ := net.SplitHostPort(s.Server)
	if client, err = smtp.NewClient(conn, host); err != nil {
		stop()
		_ = conn.Close()
		return nil, nil, err
	}
	return client, func() {
		stop()
		_ = conn.Close()
	}, nil
}

// refused is the error of a server that did not take the mail. It leaves the server's text out,
// which may hold the address.
func refused(err error) error {
	answer, ok := errors.AsType[*textproto.Error](err)
	switch {
	case !ok:
		return idem.Unavailable(errors.New("the connection to the mail server broke before the mail was sent"))
	case answer.Code == 421: // it closes, whatever the mail
		return idem.Unavailable(errors.New("the mail server answers 421"))
	case answer.Code >= 500:
		return idem.Permanent(fmt.Errorf("the mail server answers %d", answer.Code))
	}
	return idem.NotDone(fmt.Errorf("the mail server answers %d", answer.Code))
}

// mail is the text of the mail.
func mail(from string, e UserCreated, sent Sent) string {
	return strings.Join([]string{
		"From: " + from,
		"To: " + e.Email,
		"Message-ID: <" + sent.MessageID + ">",
		"Date: " + sent.SentAt.Format(time.RFC1123Z),
		"Subject: Welcome",
		"Content-Type: text/plain; charset=utf-8",
		"",
		"Welcome, " + strings.Join(strings.Fields(e.Name), " ") + "!",
		"",
	}, "\r\n")
}
