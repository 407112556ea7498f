package cutproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a connection through a proxy to a server that sends back what it gets.
func echo(t *testing.T) (*Proxy, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	p, err := New("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, dial(t, p)
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

const (
	soon   = 30 * time.Second       // within which what must come comes
	moment = 300 * time.Millisecond // for which nothing more comes
)

// say sends text and returns what comes back.
func say(c net.Conn, text string) (string, error) { return exchange(c, text, soon) }

// whisper is say where the answer, or a part of it, does not come.
func whisper(c net.Conn, text string) (string, error) { return exchange(c, text, moment) }

func exchange(c net.Conn, text string, within time.Duration) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	return hear(c, len(text), within)
}

func hear(c net.Conn, n int, within time.Duration) (string, error) {
	c.SetReadDeadline(time.Now().Add(within))
	buffer := make([]byte, n)
	n, err := io.ReadFull(c, buffer)
	return string(buffer[:n]), err
}

func TestForward(t *testing.T) {
	_, c := echo(t)
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() {
		c.Write(big)
		c.(*net.TCPConn).CloseWrite()
	}()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	got, err := io.ReadAll(c) // ends only if the end of sending is passed on
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
}

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name string
		rule Rule
		say  []string
		want []string
		hang bool // the last one times out instead of failing
	}{
		{"match up", Rule{Direction: Up, Match: []byte("bad")}, []string{"good", "x bad y"}, []string{"good", ""}, false},
		{"match down", Rule{Direction: Down, Match: []byte("bad")}, []string{"good", "x bad y"}, []string{"good", "x "}, false},
		{"match in two chunks", Rule{Direction: Up, Match: []byte("bad")}, []string{"xb", "ady"}, []string{"xb", ""}, false},
		{"after", Rule{Direction: Down, After: 6}, []string{"good", "good"}, []string{"good", "go"}, false},
		{"hang", Rule{Direction: Down, After: 6, Do: Hang}, []string{"good", "good"}, []string{"good", "go"}, true},
		{"armed the other way", Rule{Direction: Down, Armed: []byte("go"), Match: []byte("bad")}, []string{"bad", "go", "bad"}, []string{"bad", "go", ""}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, c := echo(t)
			fired := p.Once(test.rule)
			for i, text := range test.say {
				last, exchange := i == len(test.say)-1, say
				if last && test.hang {
					exchange = whisper
				}
				got, err := exchange(c, text)
				if last && test.rule.Direction == Up {
					got = "" // the answer to what came before the match may be faster than the reset
				}
				if got != test.want[i] || (err != nil) != last {
					t.Fatalf("%q: got %q, %v", text, got, err)
				}
				if last && errors.Is(err, os.ErrDeadlineExceeded) != test.hang {
					t.Errorf("got %v", err)
				}
			}
			<-fired
			if test.hang {
				if got, err := whisper(c, "more"); got != "" || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("later: got %q, %v", got, err)
				}
			}
			if got, err := say(dial(t, p), "x bad y"); err != nil {
				t.Errorf("the next connection: %q, %v", got, err)
			}
		})
	}
}

// What has come with the match arrives whole, and nothing afterwards.
func TestLast(t *testing.T) {
	p, c := echo(t)
	fired := p.Once(Rule{Direction: Down, Match: []byte("bad"), Do: Last})
	if got, err := say(c, "x bad y"); got != "x bad y" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	<-fired
	if got, err := say(c, "more"); got != "" || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("later: got %q, %v", got, err)
	}
}

// What is held arrives when it is released, in order; a turned bit is the only difference.
func TestHoldAndFlip(t *testing.T) {
	p, c := echo(t)
	held := p.Once(Rule{Direction: Up, Match: []byte("bad"), Do: Hold})
	if got, err := whisper(c, "x bad y"); got != "x " || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("held: got %q, %v", got, err)
	}
	<-held
	p.Release()
	if got, err := say(c, ".."); got != "ba" || err != nil {
		t.Errorf("released: got %q, %v", got, err)
	}
	c = dial(t, p)
	p.Once(Rule{Direction: Down, Match: []byte("bad"), Do: Flip})
	if got, err := say(c, "x bad y"); got != "x cad y" || err != nil {
		t.Errorf("flipped: got %q, %v", got, err)
	}
}

func TestRefuse(t *testing.T) {
	p, c := echo(t)
	p.Refuse(true)
	if _, err := say(c, "x"); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an open connection: %v", err)
	}
	if c, err := net.Dial("tcp", p.Addr().String()); err == nil { // else the reset was faster
		if _, err := say(c, "x"); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new connection: %v", err)
		}
		_ = c.Close()
	}
	p.Refuse(false)
	if got, err := say(dial(t, p), "x"); got != "x" || err != nil {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

func TestCutAll(t *testing.T) {
	p, c := echo(t)
	say(c, "x")
	p.CutAll()
	if _, err := say(c, "x"); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := say(dial(t, p), "x"); err != nil {
		t.Errorf("a new connection: %v", err)
	}
}

func TestDelay(t *testing.T) {
	p, c := echo(t)
	p.Delay(Up, 100*time.Millisecond)
	begin := time.Now()
	if _, err := say(c, "x"); err != nil || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestSilence(t *testing.T) {
	p, c := echo(t)
	p.Silence(Down, true)
	if _, err := whisper(c, "lost"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	p.Silence(Down, false)
	if got, err := say(c, "heard"); err != nil || got != "heard" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDeadServer(t *testing.T) {
	p, err := New("tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr().String())
	if err == nil {
		defer c.Close()
		_, err = say(c, "x")
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A proxy that was led elsewhere takes new connections there, and cuts none.
func TestLead(t *testing.T) {
	p, old := echo(t)
	if _, err := say(old, "before"); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if c, err := listener.Accept(); err == nil {
			io.WriteString(c, "another")
			c.Close()
		}
	}()
	p.Lead(listener.Addr().String())
	if got, err := hear(dial(t, p), len("another"), soon); got != "another" {
		t.Errorf("the next connection: %q, %v", got, err)
	}
	if got, err := say(old, "after"); got != "after" {
		t.Errorf("the connection from before: %q, %v", got, err)
	}
}
