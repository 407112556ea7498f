package generator

import (
	"bytes"
	"path"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/schema"
)

// namesSchemas reports whether the first line of the spec, or of a case, names a JSON Schema of
// editorFiles.
func (s *source) namesSchemas() bool {
	wanted := namesSchema(s.Content, scaffold.EditorFolder)
	for _, c := range s.cases {
		wanted = wanted || namesSchema(c.content, path.Join("../..", scaffold.EditorFolder))
	}
	return wanted
}

// editorFiles returns the JSON Schemas of this version, so that editors need no network. Git
// ignores their folder.
func editorFiles() (files []output.File) {
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

// marked adds the marker of generated files to a JSON object.
func marked(object []byte) []byte {
	return append([]byte(`{"comment":"`+output.Marker+`",`), bytes.TrimPrefix(object, []byte("{"))...)
}
