// Package footprint tells the statements that leave nothing behind but rows: no setting, no
// role, no temporary table, no other transaction. What runs after them on the same
// connection needs no clean-up. It reads the statement's text alone, and is a proof, not a
// guess: what it does not know has a footprint.
//
// What the database itself runs for a plain statement is not seen: triggers, rules, defaults,
// views, operators, casts and domains that somebody made, a function called as if it were a
// column, and one of a name of the server's own that the search_path prefers. It must not
// import any other package of this module.
package footprint

// None reports whether sql is one statement that reads and writes rows, and calls only
// functions of the server that change nothing for what runs after it.
func None(sql string) bool {
	r := reader{lexer: lexer{rest: sql}}
	if !r.advance().is("select", "insert", "update", "delete", "merge", "values", "with") || !r.apart() {
		return false
	}
	r.note()
	for r.advance(); r.now.kind != nothing; r.advance() {
		switch {
		case r.symbol(";"):
			return r.advance().kind == nothing && !r.unsure && r.count-1 > fewest // nothing after it
		case r.symbol("(") && !r.opens(),
			r.now.is("into") && !r.fills(),
			r.now.is("uescape"),                          // names that are written in another way
			r.named("pg_settings"),                       // a rule of the server's makes its updates settings
			r.now.is("on") && r.before(1).is("distinct"): // a call may follow its parenthesis
			return false
		}
		r.note()
	}
	return !r.unsure && r.count > fewest
}

// Few tokens may be the name under which any statement was prepared.
const fewest = 4 // with the end

// reader goes over a statement and keeps a few tokens.
type reader struct {
	lexer
	now  token
	past [5]token // the last one first

	count    int  // of tokens so far, and the end
	depth    int  // parentheses that are open
	selected bool // a SELECT of depth 0 was passed
	joined   bool // a JOIN or a MERGE was passed, whose ON is no ON CONFLICT
}

func (r *reader) advance() token {
	copy(r.past[1:], r.past[:])
	r.past[0], r.now = r.now, r.next()
	r.count++
	return r.now
}

// note keeps what a later token depends on.
func (r *reader) note() {
	switch {
	case r.symbol("("):
		r.depth++
	case r.symbol(")"):
		r.depth--
	case r.now.is("select"):
		r.selected = r.selected || r.depth == 0
	case r.now.is("join", "merge"):
		r.joined = true
	}
}

func (r *reader) symbol(text string) bool { return r.now.kind == symbol && r.now.text == text }

// fills reports whether INTO is that of INSERT and MERGE, and not the one with which a
// SELECT makes a table, whose columns may have any name.
func (r *reader) fills() bool {
	if !r.before(1).is("insert", "merge") {
		return false
	}
	switch r.before(2) {
	case token{}, token{symbol, "("}:
		return true
	case token{symbol, ")"}:
		return r.depth == 0 && !r.selected
	}
	return false
}

// before is the token n in front of the present one.
func (r *reader) before(n int) token { return r.past[n-1] }

// opens reports whether the parenthesis at hand begins no call, or one of a function that
// is known.
func (r *reader) opens() bool {
	switch last := r.before(1); last.kind {
	case symbol:
		return true // of an expression, a list or a subquery
	case word:
		return r.keyword(last.text) || r.declares(2) || r.known(last.text) || r.query()
	case name:
		return r.declares(2)
	}
	return false
}

// keyword reports whether a parenthesis after the word calls nothing. Words that may name
// a function, too, count only after the words that make them keywords.
func (r *reader) keyword(text string) bool {
	behind, ok := keywords[text]
	switch {
	case !ok, r.qualified(1),
		text == "conflict" && r.joined,                                           // ON conflict(x)
		text == "materialized" && r.before(2).is("not") && !r.before(3).is("as"): // SELECT NOT materialized(x)
		return false
	}
	return behind == nil || r.before(2).is(behind...) || r.before(2).kind == symbol && behind[0] == r.before(2).text
}

// declares reports whether the name that ends in front of the parenthesis, the token at i
// being the one in front of its last part, names a table, an alias or a type with what
// stands in the parenthesis.
func (r *reader) declares(i int) bool {
	if r.qualified(i - 1) {
		i += 2
	}
	return r.before(i).is("into", "as", "with", "recursive") ||
		r.before(i) == token{symbol, ":"} && r.before(i+1) == token{symbol, ":"}
}

// qualified reports whether a dot is in front of the token at i.
func (r *reader) qualified(i int) bool {
	return r.before(i+1).kind == symbol && r.before(i+1).text == "."
}

// known reports whether the function is the server's own and leaves nothing behind.
func (r *reader) known(text string) bool {
	return functions[text] && (!r.qualified(1) || r.before(3).is("pg_catalog") && !r.qualified(3))
}

// query reports whether a query is in the parenthesis: no call takes one as it is.
func (r *reader) query() bool {
	ahead := r.lexer
	first := ahead.next()
	return first.is("select", "with") || first.is("values") && ahead.next() == token{symbol, "("} // else a column
}

// named reports whether the token is a name, in quotes or not.
func (r *reader) named(text string) bool {
	return (r.now.kind == word || r.now.kind == name) && r.now.text == text
}

// apart reports whether space follows the first word. Else the text may be the name of
// a prepared statement, such as with-tenant.
func (r *reader) apart() bool { return r.rest != "" && space(r.rest[0]) }
