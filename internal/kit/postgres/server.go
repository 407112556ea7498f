//go:build unix

package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// running keeps the pipes of servers from being collected, and so closed, when a program holds
// no more than a URL.
var running sync.Map

// Server is a running server of this process.
type Server struct {
	dir      string
	password string
	port     int
	tcp      bool
	cmd      *exec.Cmd // the supervisor

	mu     sync.Mutex
	orders *os.File
	out    *json.Decoder
	pid    int
}

// Options choose a server. The zero value is the newest one installed, on a Unix socket, as
// fast as it goes and without regard for a crash of the machine.
type Options struct {
	Major   int               // version; 0 is any from OldestMajor on
	Durable bool              // keep every commit through a crash: fsync and its like stay on, data in the temporary folder, not in memory
	TCP     bool              // listen on a free port of 127.0.0.1 too, with a password
	Conf    map[string]string // further settings, as in postgresql.conf
	Dir     string            // folder for the server's own directory; "" chooses one
	Env     []string          // added to the server's environment, NAME=value
	Files   map[string]string // name to content of files in the data directory that only the server's account reads

	primary *Server // to copy and to follow
}

// Standby starts a server that follows s and answers queries. It stops s for a moment, to
// copy it: tools for base backups are not part of every build. The new one calls
// itself name.
func (s *Server) Standby(ctx context.Context, name string, o Options) (*Server, error) {
	if err := s.order("shutdown"); err != nil {
		return nil, err
	}
	o.primary = s
	o.Conf = maps.Clone(o.Conf)
	if o.Conf == nil {
		o.Conf = map[string]string{}
	}
	o.Conf["primary_conninfo"] = fmt.Sprintf("host=%s port=%d user=%s application_name=%s", s.dir, s.port, superuser, name)
	standby, err := Start(ctx, o)
	return standby, errors.Join(err, s.order("restart"))
}

// Start runs a server until Close or the end of this process, whichever comes first and
// however the process ends. ctx limits only the start.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := Locate(ctx, o.Major)
	if err != nil {
		return nil, err
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe() // only this process holds the write end
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleSupervisor)
	cmd.Stdin, cmd.Stderr = read, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's signals must not reach it
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &Server{cmd: cmd, orders: write, out: json.NewDecoder(bufio.NewReader(out)), tcp: o.TCP}
	stop := context.AfterFunc(ctx, func() { out.Close() })
	err = s.begin(o, order{Binaries: bin, Durable: o.Durable, TCP: o.TCP, Conf: o.Conf, Base: o.Dir, Env: o.Env, Files: o.Files, Copy: o.primary.data()})
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL %s from %s: %w", bin.Version, bin.Dir, err), s.Close())
	}
	running.Store(s, nil)
	return s, nil
}

func (s *Server) begin(o Options, to order) error {
	first, err := json.Marshal(to)
	if err != nil {
		return err
	}
	r, err := s.ask(string(first))
	s.dir, s.port, s.password = r.Dir, r.Port, r.Password
	if o.primary != nil {
		s.password = o.primary.password // copied like all else
	}
	return err
}

// data is the folder that a standby copies.
func (s *Server) data() string {
	if s == nil {
		return ""
	}
	return filepath.Join(s.dir, "data")
}

// ask sends one line to the supervisor and reads its reply.
func (s *Server) ask(line string) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.WriteString(s.orders, line+"\n"); err != nil {
		return reply{}, err
	}
	var r reply
	if err := s.out.Decode(&r); err != nil {
		return reply{}, fmt.Errorf("the supervisor ended: %w", err)
	}
	s.pid = r.PID
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (s *Server) order(word string) error {
	if _, err := s.ask(word); err != nil {
		return fmt.Errorf("%s PostgreSQL: %w", word, err)
	}
	return nil
}

// URL leads to the database postgres as superuser: by TCP if Options said so, else by the socket.
func (s *Server) URL() string {
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/postgres"}
	query := url.Values{"sslmode": {"disable"}}
	if s.tcp {
		u.User = url.UserPassword(superuser, s.password)
		u.Host = "127.0.0.1:" + strconv.Itoa(s.port)
	} else {
		query.Set("host", s.dir)
		query.Set("port", strconv.Itoa(s.port))
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "%2F", "/")
	return u.String()
}

// Crash ends the server and its backends with kill -9; the data stays for Restart.
func (s *Server) Crash() error { return s.order("crash") }

// Restart starts a crashed server at the same address and waits for its recovery.
func (s *Server) Restart() error { return s.order("restart") }

// Shutdown ends the server in order, with a checkpoint; the data stays for Restart.
func (s *Server) Shutdown() error { return s.order("shutdown") }

// Freeze stops the server and its backends where they are: connections stay open and silent.
func (s *Server) Freeze() error { return s.order("freeze") }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() error { return s.order("thaw") }

// Close stops the server and removes its directory. A second Close does nothing.
func (s *Server) Close() error {
	running.Delete(s)
	err := s.orders.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return errors.Join(err, s.cmd.Wait())
}
