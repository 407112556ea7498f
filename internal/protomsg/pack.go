package protomsg

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Pack is the message that Open returns as this JSON, or as more of it. Members that the message
// does not have are left out. A framed one names schema 1.
func (t *Type) Pack(text []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return nil, err
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("message %s is a JSON object", t.Message.FullName())
	}
	fit(t.Message, members)
	fitting, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(t.Message)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(fitting, m); err != nil {
		return nil, err
	}
	out := []byte{}
	if t.framed {
		out = append([]byte{magic, 0, 0, 0, 1}, t.index...)
	}
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(out, m)
}

// fit gives members the form that protobuf's JSON has: what is a text in the message may be a
// number in JSON, as amounts are, and a member for a oneof is no field.
func fit(m protoreflect.MessageDescriptor, members map[string]any) {
	for name, value := range members {
		f := m.Fields().ByName(protoreflect.Name(name))
		if f == nil {
			delete(members, name)
			continue
		}
		members[name] = fitted(f, value)
	}
}

func fitted(f protoreflect.FieldDescriptor, value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = fitted(f, v[i])
		}
	case map[string]any:
		switch {
		case f.IsMap():
			for name := range v {
				v[name] = fitted(f.MapValue(), v[name])
			}
		case f.Message() != nil && !wellKnown(f.Message()):
			fit(f.Message(), v)
		}
	case json.Number:
		if f.Kind() == protoreflect.StringKind || f.Message() != nil && f.Message().FullName() == "google.protobuf.StringValue" {
			return v.String()
		}
	}
	return value
}
