package resolve

import (
	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// defineContents gives every event the definition of its content.
func defineContents(s *model.Service) {
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if !e.Key.Offset {
				e.Key.Content = definition.Content(e)
			}
		}
	}
}
