package operate

import (
	"regexp"
	"strings"
)

// grant is the statement in a cause that a process reports for a missing right. A process may
// report any text, so names are those that need no other quotes.
var grant = regexp.MustCompile(`\bGRANT ([A-Z]+(?:, [A-Z]+)*) ON ((?:SEQUENCE |SCHEMA |FUNCTION |PROCEDURE )?[A-Za-z0-9_."]+) TO ("[A-Za-z0-9_.$-]+")`)

// grants makes the statement for a missing right the first way out. A handler's next statement may
// need another right to a table of the service, so the role gets all that it may need there.
func (p *Problem) grants() {
	m := grant.FindStringSubmatch(p.Cause)
	if m == nil {
		return
	}
	rights, on, role := m[1], m[2], m[3]
	p.Cause = strings.Replace(p.Cause, ": "+m[0], "", 1) // the way out has it
	if !strings.Contains(on, " ") && !strings.Contains(on, "idem_") {
		rights = "SELECT, INSERT, UPDATE, DELETE"
	}
	p.Do = "grant the right"
	if p.Subject == OfPartitions && p.Severity == Urgent {
		p.Do += ", then release"
	}
	p.Ways = append([]Exit{{Command: "GRANT " + rights + " ON " + on + " TO " + role + "; -- as the owner", Costs: "the role gets the right"}}, p.Ways...)
}
