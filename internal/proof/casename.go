package proof

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// CasesFolder is where the cases of a service are, from its spec.
const CasesFolder = "testdata/cases"

var caseName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

// CaseRule says how a case is named.
const CaseRule = "a case is named by a lower-case letter, then up to 40 lower-case letters, digits or _, and .yaml"

// IsCaseName reports whether a case may have this name, which is that of its file without .yaml.
func IsCaseName(name string) bool { return caseName.MatchString(name) }

// CaseName returns the name of the case in a file of the folder; "" if the file is no case. An
// error is about a file that looks like a case and has another name.
func CaseName(file fs.DirEntry) (string, error) {
	ending := path.Ext(file.Name())
	if file.IsDir() || ending != ".yaml" && ending != ".yml" {
		return "", nil
	}
	name := strings.TrimSuffix(file.Name(), ending)
	if ending != ".yaml" || !IsCaseName(name) {
		return name, fmt.Errorf("%q is not a valid name of a case", file.Name())
	}
	return name, nil
}
