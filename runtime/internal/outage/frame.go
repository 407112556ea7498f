package outage

import "regexp"

// frame is a line of an error's context that names a function in PL/pgSQL.
var frame = regexp.MustCompile(`^PL/pgSQL function ([\pL_][\pL\pN_$. ,"\[\]]*(?:\([\pL\pN_$. ,"\[\]]*\))?) line ([0-9]+) at [A-Za-z/ ]+(?:\n|$)`)

// Frame returns the PL/pgSQL function and line in which an error of the database occurred; "" if
// its context does not begin with them. The lines after that may quote statements, which contain
// values.
func Frame(context string) string {
	m := frame.FindStringSubmatch(context)
	if m == nil {
		return ""
	}
	return "function " + m[1] + " line " + m[2]
}
