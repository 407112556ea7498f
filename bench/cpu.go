package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpu is what the processes of the server have used until now, those that ended included: every
// connection is one, and writers and checkpointer live as long as the server.
func (d *database) cpu(ctx context.Context) (time.Duration, error) {
	var own string
	if err := d.admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&own); err != nil {
		return 0, err
	}
	backend, err := readProcess(own)
	if err != nil {
		return 0, err
	}
	server, err := readProcess(backend.parent)
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile("/proc/" + backend.parent + "/task/" + backend.parent + "/children")
	if err != nil {
		return 0, err
	}
	sum := server.ended
	for _, pid := range strings.Fields(string(children)) {
		if child, err := readProcess(pid); err == nil { // or it ended meanwhile
			sum += child.own
		}
	}
	return sum, nil
}

// process is what Linux tells of a process.
type process struct {
	parent string
	own    time.Duration // CPU time
	ended  time.Duration // CPU time of its children that ended
}

func readProcess(pid string) (p process, err error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return p, fmt.Errorf("CPU time is measured on Linux only: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name of the program may hold spaces
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return p, fmt.Errorf("/proc/%s/stat has %d fields behind the name", pid, len(fields))
	}
	p.parent = fields[1]
	for i, to := range map[int]*time.Duration{11: &p.own, 12: &p.own, 13: &p.ended, 14: &p.ended} {
		ticks, err := strconv.Atoi(fields[i])
		if err != nil {
			return p, err
		}
		*to += time.Duration(ticks) * (time.Second / 100) // the tick of /proc
	}
	return p, nil
}
