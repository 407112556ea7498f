//go:build unix

package postgres

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// roleEnv is set in a copy of this program that is not to be the program but one of these.
const (
	roleEnv        = "IDEMTEST_ROLE"
	roleSupervisor = "postgres-supervisor"
	roleFetcher    = "postgres-fetcher"
)

func init() {
	role := os.Getenv(roleEnv)
	switch role {
	case roleSupervisor:
		err := supervise(os.Stdin, os.Stdout)
		exit(role, err)
	case roleFetcher:
		exit(role, fetchHere(os.Stdin))
	}
}

func exit(role string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "idemtest: %s: %v\n", role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// order is the first line that a supervisor reads; words follow, one per line: crash, shutdown,
// restart, freeze, thaw. Each gets a reply of one line. The end of the input, which comes
// with the end of the process that holds the other end, is the order to clean up.
type order struct {
	Binaries Binaries
	Durable  bool
	TCP      bool
	Conf     map[string]string
	Base     string   // folder for the directory; "" is chosen by Durable
	Env      []string // more of the environment
	Files    map[string]string
	Copy     string // data of a primary, stopped, to be a standby of; "" makes a new cluster
}

type reply struct {
	Error    string
	Dir      string
	Port     int
	PID      int
	Password string
}

func supervise(in io.Reader, out io.Writer) error {
	// A terminal's Ctrl-C is for the process that reads the pipe's other end.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	// Pdeathsig follows the thread that started the server.
	runtime.LockOSThread()
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return lines.Err()
	}
	var o order
	if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
		return err
	}
	a := account()
	base := cmp.Or(o.Base, place(o.Durable))
	if err := sweep(a, base, os.TempDir(), shm); err != nil {
		fmt.Fprintln(os.Stderr, "idemtest: leftovers of killed servers:", err)
	}
	dir, lock, err := newDirectory(base, a)
	if err != nil {
		return json.NewEncoder(out).Encode(reply{Error: err.Error()})
	}
	defer lock.Close()
	p := &postmaster{bin: o.Binaries, dir: dir, account: a, tcp: o.TCP, env: o.Env, conf: settings(o.Durable, o.Conf)}
	err = serve(p, &o, lines, json.NewEncoder(out))
	p.stop()
	return errors.Join(err, removeDirectory(dir))
}

// serve starts the server and does what the lines say until they end.
func serve(p *postmaster, o *order, lines *bufio.Scanner, out *json.Encoder) error {
	var password string
	var err error
	if o.Copy != "" {
		err = newStandby(o.Copy, p.dir, p.account)
	} else {
		password, err = newCluster(p.bin, p.dir, p.account)
	}
	if err == nil {
		err = addFiles(o.Files, filepath.Join(p.dir, "data"), p.account)
	}
	if err == nil {
		err = p.start()
	}
	for {
		r := reply{Dir: p.dir, Port: p.port, PID: p.pid(), Password: password}
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil && !errors.Is(err, syscall.EPIPE) {
			return err
		}
		if !lines.Scan() {
			return lines.Err()
		}
		switch word := lines.Text(); word {
		case "crash":
			err = p.crash()
		case "shutdown":
			err = p.shutdown()
		case "restart":
			err = p.restart()
		case "freeze":
			err = p.signal(syscall.SIGSTOP)
		case "thaw":
			err = p.signal(syscall.SIGCONT)
		default:
			err = fmt.Errorf("unknown order %q", word)
		}
	}
}

// removeDirectory tries again while the last backends of a killed server still write.
func removeDirectory(dir string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
