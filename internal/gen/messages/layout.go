package messages

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// protoLayout is how the fields of a message, and of those in it, are written, by their names.
func protoLayout(m protoreflect.MessageDescriptor) map[string]string {
	layout, seen := map[string]string{}, map[protoreflect.FullName]bool{}
	var add func(m protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			layout[string(f.FullName())] = fmt.Sprintf("%s = %d", f.Kind(), f.Number())
			if f.Message() != nil {
				add(f.Message())
			}
		}
	}
	add(m)
	return layout
}
