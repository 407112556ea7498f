package generator

import (
	"bytes"
	"path"

	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/scaffold"
	"github.com/idemgen/idemgen/schema"
)

// editorFiles are the JSON Schemas in the folder that the first line of the spec, or of a case,
// names to editors: those of this version, without a network. Git ignores the folder.
func (u *unit) editorFiles() (files []output.File) {
	wanted := namesSchema(u.Content, scaffold.EditorFolder)
	for _, c := range u.cases {
		wanted = wanted || namesSchema(c.content, path.Join("../..", scaffold.EditorFolder))
	}
	if !wanted {
		return nil
	}
	add := func(name string, data []byte) {
		files = append(files, output.File{Path: path.Join(scaffold.EditorFolder, name), Policy: output.Local, Data: data})
	}
	add(".gitignore", []byte("# "+output.Marker+"\n*\n"))
	add("idemgen.v1.schema.json", marked(schema.SpecJSON))
	add("idemgen.case.v1.schema.json", marked(schema.CaseJSON))
	return files
}

func namesSchema(text []byte, folder string) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(line, []byte("$schema="+folder+"/"))
}

// marked puts the marker into JSON.
func marked(object []byte) []byte {
	return append([]byte(`{"comment":"`+output.Marker+`",`), bytes.TrimPrefix(object, []byte("{"))...)
}
