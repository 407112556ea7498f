package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// maxFileName leaves room for what stands around the name of a topic in file names, also in
// the temporary ones of editors and version control.
const maxFileName = 200

// checkTopicNames reports topics that become one Go name or one file name.
func checkTopicNames(report *syntax.Diagnostics, d *draft.Service) {
	names, files := newGoNames(report), map[string]*draft.Topic{}
	names.fold = goname.Unexported
	for _, t := range d.Topics {
		name := t.Spec.Name
		if t.Spec.Broken {
			continue
		}
		if !goname.IsExported(t.Model.GoName) {
			report.Add(name.Pos, "E201", fmt.Sprintf("topic %s cannot become a Go name: it must begin with a letter", wording.Quote(name.Value)), "give the entry another name, and write this one under name")
			continue
		}
		if len(t.Model.FileName) > maxFileName {
			report.Add(name.Pos, "E201", fmt.Sprintf("topic %s would need file names of %d characters, but file systems allow 255", wording.Quote(name.Value), len("idem__gen_test.go")+len(t.Model.FileName)),
				"give the entry a shorter name, and write this one under name")
			continue
		}
		if first := files[t.Model.FileName]; first != nil && first.Model.GoName != t.Model.GoName {
			report.Add(name.Pos, "E202", fmt.Sprintf("topic %s and topic %s both become file idem_%s_gen.go", wording.Quote(first.Spec.Name.Value), wording.Quote(name.Value), t.Model.FileName),
				fmt.Sprintf("give one of them another name, and write this one under name; the first is on line %d", first.Spec.Name.Pos.Line))
			continue
		}
		files[t.Model.FileName] = t
		names.add(t.Model.GoName, goNameUse{what: "topic " + wording.Quote(name.Value), pos: name.Pos})
	}
}
