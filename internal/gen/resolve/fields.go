package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// maxMembers is how many members the decoder of one object can keep apart.
const maxMembers = 256

// resolveField reads one field of an event, a topic or a type; owner names that, and at is where
// its fields are.
func resolveField(report *syntax.Diagnostics, types *draft.Types, spec *syntax.Field, owner string, at place) draft.Field {
	info := draft.Field{Spec: spec}
	ft, ok := fieldType(report, types, spec.Type)
	if !ok || spec.Broken {
		return info
	}
	f := &model.Field{Name: spec.Name.Value, GoName: goname.Of(spec.Name.Value), Doc: docOf(spec.Doc), Type: ft,
		Sensitive: spec.Sensitive != nil && spec.Sensitive.Value || sensitiveType(types, spec.Type)}
	if f.Source, ok = fieldSource(report, spec, ft, owner, at); !ok {
		return info
	}
	if spec.Default != nil {
		norm, why := typeword.FieldConstant(ft, spec.Default.Value)
		if why != typeword.Fits {
			report.Add(spec.Default.Pos, "E304", fmt.Sprintf("default %s does not fit field %s of type %s", wording.Quote(spec.Default.Value), wording.Quote(f.Name), typeword.Text(ft)), string(why))
			return info
		}
		f.Default = &model.Constant{Text: norm}
	}
	if spec.Patch != nil && spec.Patch.Value {
		if !checkPatch(report, spec, f) {
			return info
		}
		f.Patch = true
	}
	info.Field = f
	return info
}

// checkPatch refuses a patch that cannot be absent, or not in one sense only (E309).
func checkPatch(report *syntax.Diagnostics, spec *syntax.Field, f *model.Field) bool {
	why, hint := "", `remove "patch"`
	switch {
	case f.Source.Kind != model.FromPayload:
		why, hint = "is not read from the payload", `remove "patch", or read it by path`
	case f.Default != nil:
		why, hint = "has a default, so it is never absent", `remove "patch" or "default"`
	case len(f.Source.Path) == 0:
		why = "is the whole payload, which is never absent"
	default:
		return true
	}
	report.Add(spec.Patch.Key, "E309", fmt.Sprintf("patch field %s %s", wording.Quote(f.Name), why), hint)
	return false
}

// fieldSource tells where a field is read from, or reports E306 and false.
func fieldSource(report *syntax.Diagnostics, spec *syntax.Field, ft model.FieldType, owner string, at place) (model.Source, bool) {
	switch {
	case spec.Header != nil:
		if ft.Kind == model.Object || ft.Elem != nil || ft.Notation.OfDocuments() {
			report.Add(spec.Header.Key, "E306", fmt.Sprintf("field %s of %s is %s, which a header cannot hold", wording.Quote(spec.Name.Value), owner, typeword.Text(ft)),
				"a header is one text: use a scalar, an enum or json")
			return model.Source{}, false
		}
		binary := spec.Encoding != nil && spec.Encoding.Value == "binary"
		if binary && !fitsBinary(ft) {
			report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s of %s is %s, which a binary header cannot hold", wording.Quote(spec.Name.Value), owner, typeword.Text(ft)), binaryHint)
			return model.Source{}, false
		}
		return model.Source{Kind: model.FromHeader, Header: spec.Header.Value, Binary: binary}, true
	case spec.Record != nil:
		return model.Source{Kind: model.FromRecord, Record: spec.Record.Value}, checkRecordField(report, spec, ft)
	}
	return model.Source{Kind: model.FromPayload, Path: at.field(spec)}, true
}

// recordTypes are the types that record metadata can be read as.
var recordTypes = map[string][]string{
	"key": {"string", "bytes", "json"}, "value": {"json", "string", "bytes"}, "timestamp": {"timestamp"},
	"offset": {"int64"}, "partition": {"int32"}, "topic": {"string"},
}

func checkRecordField(report *syntax.Diagnostics, spec *syntax.Field, ft model.FieldType) bool {
	what, words := spec.Record.Value, recordTypes[spec.Record.Value]
	switch {
	case !slices.Contains(words, typeword.Text(ft)):
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s (%s) cannot hold the record's %s", wording.Quote(spec.Name.Value), typeword.Text(ft), what), "declare it "+strings.Join(words, " or "))
	case ft.Optional:
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s is optional, but every record has its %s", wording.Quote(spec.Name.Value), what), `remove "optional": a record without one becomes a dead letter`)
	case spec.Default != nil:
		report.Add(spec.Default.Key, "E306", fmt.Sprintf("field %s has a default, but every record has its %s", wording.Quote(spec.Name.Value), what), `remove "default"`)
	default:
		return true
	}
	return false
}

// checkPaths reports paths that go through a field that has no members (E307) and
// objects with too many members, and whether there was neither.
func checkPaths(report *syntax.Diagnostics, infos []draft.Field, owner string, at syntax.Pos) bool {
	ok := true
	members := map[string]map[string]bool{}
	for _, in := range infos {
		if in.Field == nil || in.Field.Source.Kind != model.FromPayload {
			continue
		}
		path := in.Field.Source.Path
		for i, m := range path {
			object := strings.Join(path[:i], "\x00")
			if members[object] == nil {
				members[object] = map[string]bool{}
			}
			members[object][m] = true
		}
		for _, through := range infos {
			if !goesThrough(in, through) {
				continue
			}
			pos := in.Spec.Name.Pos
			if in.Spec.Path != nil {
				pos = in.Spec.Path.Pos
			}
			report.Add(pos, "E307", fmt.Sprintf("path %s goes through field %s, which is %s", wording.Quote(strings.Join(path, ".")), wording.Quote(through.Field.Name), withArticle(typeword.Text(through.Field.Type))),
				"only an object, a map or json has members")
			ok = false
			break
		}
	}
	total := 0
	for _, m := range members {
		total += len(m)
	}
	if total > maxMembers {
		report.Add(at, "E708", fmt.Sprintf("%s reads %d members, but one object may have at most %d", owner, total, maxMembers), "group them in types, or read the rest as json")
		ok = false
	}
	return ok
}

// goesThrough reports whether the path of in leads into a field without members.
func goesThrough(in, through draft.Field) bool {
	if through.Field == nil || through.Field.Source.Kind != model.FromPayload {
		return false
	}
	if k := through.Field.Type.Kind; k == model.Object || k == model.Map || k == model.JSON {
		return false
	}
	path, prefix := in.Field.Source.Path, through.Field.Source.Path
	return len(path) > len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

func withArticle(word string) string {
	if strings.ContainsRune("aeiouAEIO", rune(word[0])) && !strings.HasPrefix(word, "uuid") {
		return "an " + word
	}
	return "a " + word
}
