package console

import (
	"slices"

	"github.com/idemgen/idemgen/internal/operate"
)

// running is a process of a consumer with the relay in it, or a relay alone.
type running struct {
	operate.Process
	relay *operate.Process // nil if it has none
}

// Sends says what the process does for the outbox.
func (r running) Sends() string {
	switch {
	case r.relay == nil:
		return ""
	case r.relay.Relay.Leads && !r.relay.Silent:
		return "with the relay that sends the outbox"
	}
	return "with a relay of the outbox"
}

// Codes are those of its problems, unless it is silent.
func (r running) Codes() (codes []string) {
	for _, p := range []*operate.Process{&r.Process, r.relay} {
		if p == nil || p.Silent {
			continue
		}
		for _, is := range p.Problems {
			if is.Code != "leader" { // another relay leads
				codes = appendNew(codes, is.Code)
			}
		}
	}
	return codes
}

// ByLife are the processes, silent ones last.
func (s *snapshot) ByLife() (all []running) {
	for _, p := range s.Processes {
		if p.Relay == nil {
			all = append(all, running{Process: p})
		}
	}
	for i := range s.Processes {
		relay := &s.Processes[i]
		if relay.Relay == nil {
			continue
		}
		of := slices.IndexFunc(all, func(r running) bool { return r.Name == relay.Name && r.Silent == relay.Silent && r.relay == nil })
		if of >= 0 {
			all[of].relay = relay
		} else {
			all = append(all, running{*relay, relay})
		}
	}
	slices.SortStableFunc(all, func(a, b running) int {
		switch {
		case a.Silent == b.Silent:
			return 0
		case a.Silent:
			return 1
		}
		return -1
	})
	return all
}
