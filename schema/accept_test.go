package schema

import (
	"encoding/json"
	"slices"
	"testing"
)

// The editor proposes the warnings that accept takes.
func TestEditorsKnowWhatIsAccepted(t *testing.T) {
	var doc struct {
		Definitions struct {
			Accept struct {
				PropertyNames        struct{ Enum []string }
				AdditionalProperties struct{ MaxLength int }
			}
		}
	}
	if err := json.Unmarshal(JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	accept := doc.Definitions.Accept
	if !slices.Equal(accept.PropertyNames.Enum, acceptable) || accept.AdditionalProperties.MaxLength != maxReason {
		t.Errorf("the JSON schema says %+v", accept)
	}
}
