package resolve

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/schema"
)

// goNames are the Go names of one scope: of the package, or of one struct.
type goNames struct {
	r *resolver
	// fold makes names equal that differ in case only: the package also holds each
	// name with a small first word (orderPlacedSpace), where SKUSold and SkuSold meet.
	fold bool
	used map[string]goNameUse
}

// goNameUse is one claim to a Go name.
type goNameUse struct {
	what string // `field "order_id"`; "" = a name of the generated code
	name string
	pos  schema.Pos
	fix  string // hint; "" = set go_name
}

func (g *goNames) key(name string) string {
	if g.fold {
		return strings.ToLower(name)
	}
	return name
}

func newGoNames(r *resolver) *goNames { return &goNames{r: r, used: map[string]goNameUse{}} }

// reserve takes a name for the generated code itself.
func (g *goNames) reserve(name string) { g.used[g.key(name)] = goNameUse{name: name} }

// add claims a name for a thing of the spec and reports E202 if it is taken.
func (g *goNames) add(name string, use goNameUse) {
	use.name = name
	first, taken := g.used[g.key(name)]
	if !taken {
		g.used[g.key(name)] = use
		return
	}
	become := "Go name " + name
	if first.name != name {
		become = fmt.Sprintf("Go names that differ in case only, %s and %s", first.name, name)
	}
	if first.what == "" {
		g.r.fail(use.pos, "E202", fmt.Sprintf("%s becomes Go name %s, which the generated code declares itself", use.what, name), cmp.Or(use.fix, "set go_name"))
		return
	}
	g.r.fail(use.pos, "E202", fmt.Sprintf("%s and %s both become %s", first.what, use.what, become),
		fmt.Sprintf("%s; the first is on line %d", cmp.Or(use.fix, "set go_name on one of them"), first.pos.Line))
}

// checkGoNames reports names of the generated package that collide: types, enum
// constants, events, topics and what the generated code declares around them.
func (r *resolver) checkGoNames() {
	g := newGoNames(r)
	g.fold = true
	// Service is in the first handler.go, which lies beside the generated code.
	for _, n := range []string{"Handler", "NewConsumer", "StubHandler", "NewTestHandler", "EditTestLog", "Service"} {
		g.reserve(n)
	}
	for _, t := range r.spec.Types {
		e := r.types[t.Name.Value]
		g.add(e.model.GoName, goNameUse{what: "type " + quote(t.Name.Value), pos: t.Name.Pos})
	}
	for _, e := range r.namedEvents() {
		g.add(e.model.GoName, goNameUse{what: e.inTopic(), pos: e.spec.Name.Pos})
	}
	for _, t := range r.spec.Types {
		if t.Broken { // an enum that holds a value twice is reported already
			continue
		}
		for _, v := range t.Enum {
			if word := goName(v.Name.Value); word != "" {
				g.add(r.types[t.Name.Value].model.GoName+word, goNameUse{
					what: fmt.Sprintf("value %s of %s", quote(v.Name.Value), quote(t.Name.Value)), pos: v.Name.Pos,
					fix: "write the enum as a map and give each value a name of its own",
				})
			}
		}
	}
	once := map[string]bool{} // a second thing of one name is reported by its own name
	add := func(name, what string, pos schema.Pos) {
		if !once[g.key(name)] {
			g.add(name, goNameUse{what: what, pos: pos})
		}
		once[g.key(name)] = true
	}
	for _, e := range r.namedEvents() {
		add(e.topic.model.GoName+"Handler", "the handler of topic "+quote(e.topic.spec.Name.Value), e.topic.spec.Name.Pos)
		add("Test"+e.topic.model.GoName, "the test of topic "+quote(e.topic.spec.Name.Value), e.topic.spec.Name.Pos)
		add("Decode"+e.model.GoName, "the decoder of "+e.is(), e.spec.Name.Pos)
	}
	r.checkTopicNames()
	r.checkPlanNames()
	tables := newGoNames(r)
	for _, t := range r.spec.Tables {
		tables.add(r.tables[t.Name.Value].model.GoName, goNameUse{what: "table " + quote(t.Name.Value), pos: t.Name.Pos})
	}
}

// checkPlanNames reports events and steps that become one field or method of a plan, or one
// constant of the package: the add method, the rows and the statement of every step are
// named after the event, and [nameSteps] joins words that may come apart in two ways.
func (r *resolver) checkPlanNames() {
	statements := newGoNames(r)
	statements.fold = true
	plans, added := map[*topic]*goNames{}, map[string]bool{}
	for _, e := range r.namedEvents() {
		plan := plans[e.topic]
		if plan == nil {
			plan = newGoNames(r)
			plan.fold = true
			plans[e.topic] = plan
		}
		plan.add(e.model.GoName, goNameUse{what: e.inTopic(), pos: e.spec.Name.Pos})
		if method := plan.key("Add" + e.model.GoName); !added[method] { // of two alike the events are reported
			added[method] = true
			plan.add("Add"+e.model.GoName, goNameUse{what: "the add method of " + e.inTopic(), pos: e.spec.Name.Pos})
		}
		named := map[string]bool{} // of several such steps nameSteps tells apart
		for _, st := range e.steps {
			if st.table == nil || named[stepName(st.model)] {
				continue
			}
			name := stepName(st.model)
			named[name] = true
			use := goNameUse{what: st.is() + " in " + e.inTopic(), pos: st.spec.Verb.Pos, fix: "set go_name on an event or a table"}
			plan.add(name, use)
			statements.add(name, use) // where both refuse, the two problems are one
		}
	}
}

// namedEvents are the events whose names, and whose topics' names, were accepted.
func (r *resolver) namedEvents() []*event {
	var out []*event
	for _, t := range r.topics {
		for _, e := range t.events {
			if !t.spec.Broken && !e.spec.Broken {
				out = append(out, e)
			}
		}
	}
	return out
}

// inTopic names the event together with its topic.
func (e *event) inTopic() string { return e.is() + " of topic " + quote(e.topic.spec.Name.Value) }

// maxFileName leaves room for what stands around the name of a topic in file names, also in
// the temporary ones of editors and version control.
const maxFileName = 200

// checkTopicNames reports topics that become one Go name or one file name.
func (r *resolver) checkTopicNames() {
	names, files := newGoNames(r), map[string]*topic{}
	for _, t := range r.topics {
		name := t.spec.Name
		if t.spec.Broken {
			continue
		}
		if !isExported(t.model.GoName) {
			r.fail(name.Pos, "E201", fmt.Sprintf("topic %s gives no Go name: it must begin with a letter", quote(name.Value)), "set go_name")
			continue
		}
		if len(t.model.FileName) > maxFileName {
			r.fail(name.Pos, "E201", fmt.Sprintf("topic %s gives file names of %d characters, and file systems end at 255", quote(name.Value), len("idem__gen_test.go")+len(t.model.FileName)),
				"set go_name, which then stands in them")
			continue
		}
		if first := files[t.model.FileName]; first != nil && first.model.GoName != t.model.GoName {
			r.fail(name.Pos, "E202", fmt.Sprintf("topic %s and topic %s both become file idem_%s_gen.go", quote(first.spec.Name.Value), quote(name.Value), t.model.FileName),
				fmt.Sprintf("set go_name on one of them; the first is on line %d", first.spec.Name.Pos.Line))
			continue
		}
		files[t.model.FileName] = t
		names.add(t.model.GoName, goNameUse{what: "topic " + quote(name.Value), pos: name.Pos})
	}
}
