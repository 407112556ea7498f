package model

import "slices"

// TextsOf are the texts that the spec gives a column: constants, and those of enums.
func (s *Service) TextsOf(c *Column) (texts []string) {
	add := func(text string) {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, t := range s.Topics {
		for _, e := range t.Events {
			for _, step := range e.Steps {
				for _, a := range slices.Concat(step.Set, step.Where) {
					switch v := a.Value; {
					case a.Column != c:
					case v.Kind == ConstValue:
						add(v.Const.Text)
					case v.Field != nil && v.Field.Type.Named != nil:
						for _, constant := range v.Field.Type.Named.Enum {
							add(constant.Text)
						}
					}
				}
			}
		}
	}
	return texts
}
