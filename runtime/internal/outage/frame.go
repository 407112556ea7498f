package outage

import "regexp"

// frame is a line of an error's context that names a function in PL/pgSQL.
var frame = regexp.MustCompile(`^PL/pgSQL function ([\pL_][\pL\pN_$. ,"\[\]]*(?:\([\pL\pN_$. ,"\[\]]*\))?) line ([0-9]+) at [A-Za-z/ ]+(?:\n|$)`)

// Frame names the function and the line in which PL/pgSQL was when an error of the database
// happened; "" if its context does not begin with that. The lines after it may quote
// statements, and those hold values.
func Frame(context string) string {
	m := frame.FindStringSubmatch(context)
	if m == nil {
		return ""
	}
	return "function " + m[1] + " line " + m[2]
}
