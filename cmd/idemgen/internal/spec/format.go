package spec

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// outdated is the rule that a file breaks which generate would change.
const outdated = "generated"

// findings are what check says of specs and files: problems, and then files that generate would
// change.
func findings(problems []generator.Diagnostic, changes []change) []generator.Diagnostic {
	all := append([]generator.Diagnostic{}, problems...)
	for _, c := range changes {
		all = append(all, generator.Diagnostic{File: c.Path, Code: outdated, Message: "the file differs from what the spec describes", Hint: "run idemgen generate"})
	}
	return all
}

// formats are the other ways in which check prints findings, by the value of --format.
var formats = map[string]func(io.Writer, []generator.Diagnostic) error{"github": printGitHub, "sarif": printSARIF}

// printGitHub prints workflow commands, which GitHub shows beside the lines of a pull request:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func printGitHub(out io.Writer, all []generator.Diagnostic) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, d := range all {
		place := "file=" + property.Replace(d.File)
		if d.Line > 0 {
			place += fmt.Sprintf(",line=%d,col=%d", d.Line, d.Column)
		}
		if _, err := fmt.Fprintf(out, "::error %s,title=idemgen %s::%s\n", place, property.Replace(d.Code), text.Replace(sentence(d))); err != nil {
			return err
		}
	}
	return nil
}

func sentence(d generator.Diagnostic) string {
	if d.Hint == "" {
		return d.Message
	}
	return d.Message + ": " + d.Hint
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string `json:"name"`
				Version string `json:"version,omitempty"`
			} `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	}
)

// printSARIF prints a log of SARIF 2.1.0, which code scanners read:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func printSARIF(out io.Writer, all []generator.Diagnostic) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver.Name, run.Tool.Driver.Version = "idemgen", command.Version().Version
	for _, d := range all {
		var at sarifLocation
		at.Physical.Artifact.URI = d.File
		if d.Line > 0 {
			at.Physical.Region = &sarifRegion{d.Line, d.Column}
		}
		run.Results = append(run.Results, sarifResult{d.Code, "error", sarifText{sentence(d)}, []sarifLocation{at}})
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
