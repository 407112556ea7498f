package resolve

import (
	"errors"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Schemas reads the schema files that a spec names, and returns what adds them to the model. It is
// a parameter because not everybody who reads specs links the parsers of schemas.
type Schemas func(*syntax.Spec) (add func(*model.Service) syntax.Diagnostics, problems syntax.Diagnostics)

// Read reads a spec with its schemas; nil reads none. The model is nil if a problem is an error.
// file names the spec in problems.
func Read(file string, content []byte, schemas Schemas) (*syntax.Spec, *model.Service, syntax.Diagnostics) {
	spec, problems := syntax.Load(file, content)
	add := func(*model.Service) (none syntax.Diagnostics) { return none }
	if schemas != nil {
		var unread syntax.Diagnostics
		add, unread = schemas(spec)
		problems.Append(unread)
	}
	service, more := Resolve(spec)
	if problems.Append(more); problems.Errors() == 0 {
		problems.Append(add(service))
	}
	if problems.Errors() > 0 {
		service = nil
	}
	return spec, service, problems
}

// Service is Read for those who need a spec in order: its problems are the error.
func Service(file string, content []byte, schemas Schemas) (*model.Service, error) {
	_, service, problems := Read(file, content, schemas)
	if service != nil {
		return service, nil
	}
	var text strings.Builder
	err := problems.Print(&text, file, content)
	return nil, errors.Join(errors.New(strings.TrimSpace(text.String())), err)
}
