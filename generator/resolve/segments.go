package resolve

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// topicPart is what stands between two dots of a topic's name.
var topicPart = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// segmentKinds are the types that a part of a topic's name can be read as.
var segmentKinds = []model.Kind{model.String, model.UUID, model.Bool, model.Int32, model.Int64, model.Date, model.Enum}

// knownSegment reports a segment that the topic's pattern does not have (E306); what reads it.
func knownSegment(report *schema.Diagnostics, t *schema.Topic, name schema.Text, what string) bool {
	segments := t.Pattern.Segments()
	switch {
	case slices.Contains(segments, name.Value):
		return true
	case t.Broken: // pattern may be what was refused
	case t.Pattern == nil:
		report.Add(name.Pos, "E306", fmt.Sprintf("%s reads segment %s, but topic %s has no pattern", what, wording.Quote(name.Value), wording.Quote(t.Name.Value)),
			"name the topics by a pattern with that segment, for example pattern: orders.<"+name.Value+">.v1")
	default:
		report.Add(name.Pos, "E306", fmt.Sprintf("%s reads segment %s, which pattern %s does not have", what, wording.Quote(name.Value), wording.Quote(t.Pattern.Value)),
			wording.Choices(name.Value, "segments", segments))
	}
	return false
}

// checkSegmentField refuses fields that a part of the topic's name cannot fill (E306).
func checkSegmentField(report *schema.Diagnostics, t *schema.Topic, spec *schema.Field, ft model.FieldType) bool {
	name := wording.Quote(spec.Name.Value)
	switch {
	case t == nil || !knownSegment(report, t, *spec.Segment, "field "+name):
	case ft.Codec != nil:
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s is a part of the topic's name as it is, so no Go code (codec) decodes it", name), "declare it "+typeword.Text(ft)+", without codec")
	case !slices.Contains(segmentKinds, ft.Kind) || ft.Notation != model.Usual:
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s (%s) cannot hold a part of a topic's name", name, typeword.Text(ft)), "declare it string, uuid, bool, int32, int64, date or an enum")
	case ft.Optional:
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s is optional, but every topic's name has its segment", name), `drop "optional"`)
	case spec.Default != nil:
		report.Add(spec.Default.Key, "E306", fmt.Sprintf("field %s has a default, but every topic's name has its segment", name), `drop "default"`)
	case ft.Kind == model.Enum && !ft.Named.KeepsUnknown && !slices.ContainsFunc(ft.Named.Enum, func(v model.EnumValue) bool { return topicPart.MatchString(v.Text) }):
		report.Add(spec.Type.Pos, "E306", fmt.Sprintf("field %s (%s): none of the enum's texts can be a part of a topic's name", name, typeword.Text(ft)), "a part has the characters A-Z a-z 0-9 _ -")
	default:
		return true
	}
	return false
}

// checkTextsOfSegment refuses texts of types and versions that no topic's name can hold (E306).
func checkTextsOfSegment(report *schema.Diagnostics, t *draft.Topic, d *schema.Discriminator) {
	refuse := func(what string, texts ...schema.Text) {
		for _, text := range texts {
			if !topicPart.MatchString(text.Value) {
				report.Add(text.Pos, "E306", fmt.Sprintf("%s %s cannot be a part of a topic's name, where it is read from", what, wording.Quote(text.Value)),
					"a part has the characters A-Z a-z 0-9 _ -, and no dot")
			}
		}
	}
	for _, e := range t.Events {
		if d == t.Spec.EventVersion && e.Spec.Version != nil {
			refuse("version", *e.Spec.Version)
		}
		if d == t.Spec.EventType && e.Spec.Type != nil {
			refuse("type", e.Spec.Type.Items...)
		}
	}
	if d == t.Spec.EventType && t.Spec.Ignore != nil {
		refuse("type", t.Spec.Ignore.Items...)
	}
}

// checkVersionsOfSegment reports events for records without a version, where every topic's name
// has one (E404).
func checkVersionsOfSegment(report *schema.Diagnostics, t *draft.Topic, typed []*draft.Event) {
	for _, e := range typed {
		if e.Spec.Version == nil && !e.Spec.Broken {
			report.Add(e.Spec.Name.Pos, "E404", fmt.Sprintf("event %s has no version, but every topic that matches %s has one in its name",
				wording.Quote(e.Spec.Name.Value), wording.Quote(t.Model.Pattern.String())), "write the version, for example version: v1")
		}
	}
}
