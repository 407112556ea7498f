package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/schema"
)

// maxFileName leaves room for what stands around the name of a topic in file names, also in
// the temporary ones of editors and version control.
const maxFileName = 200

// checkTopicNames reports topics that become one Go name or one file name.
func checkTopicNames(report *schema.Diagnostics, d *draft) {
	names, files := newGoNames(report), map[string]*topic{}
	for _, t := range d.topics {
		name := t.spec.Name
		if t.spec.Broken {
			continue
		}
		if !isExported(t.model.GoName) {
			report.Add(name.Pos, "E201", fmt.Sprintf("topic %s gives no Go name: it must begin with a letter", quote(name.Value)), "set go_name")
			continue
		}
		if len(t.model.FileName) > maxFileName {
			report.Add(name.Pos, "E201", fmt.Sprintf("topic %s gives file names of %d characters, and file systems end at 255", quote(name.Value), len("idem__gen_test.go")+len(t.model.FileName)),
				"set go_name, which then stands in them")
			continue
		}
		if first := files[t.model.FileName]; first != nil && first.model.GoName != t.model.GoName {
			report.Add(name.Pos, "E202", fmt.Sprintf("topic %s and topic %s both become file idem_%s_gen.go", quote(first.spec.Name.Value), quote(name.Value), t.model.FileName),
				fmt.Sprintf("set go_name on one of them; the first is on line %d", first.spec.Name.Pos.Line))
			continue
		}
		files[t.model.FileName] = t
		names.add(t.model.GoName, goNameUse{what: "topic " + quote(name.Value), pos: name.Pos})
	}
}
