package protomsg

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idemgen/idemgen/internal/frame"
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
	if err := fit(t.Message, members); err != nil {
		return nil, err
	}
	fitting, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(t.Message)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: t.types}).Unmarshal(fitting, m); err != nil {
		return nil, err
	}
	out := []byte{}
	if t.framed {
		out = appendPlace(frame.Append(nil, 1), t.place)
	}
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(out, m)
}

// fit gives members the form that protobuf's JSON has: what is a text in the message may be a
// number in JSON, as amounts are, and a member for a oneof is no field.
func fit(m protoreflect.MessageDescriptor, members map[string]any) error {
	for name, value := range members {
		f := m.Fields().ByName(protoreflect.Name(name))
		if f == nil { // protojson discards it
			continue
		}
		is, err := fitted(f, value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		members[name] = is
	}
	return nil
}

func fitted(f protoreflect.FieldDescriptor, value any) (_ any, err error) {
	switch v := value.(type) {
	case []any:
		for i := range v {
			if v[i], err = fitted(f, v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		switch {
		case f.IsMap():
			for name := range v {
				if v[name], err = fitted(f.MapValue(), v[name]); err != nil {
					return nil, err
				}
			}
		case f.Message() != nil && !wellKnown(f.Message()):
			return v, fit(f.Message(), v)
		}
	case json.Number:
		if f.Kind() == protoreflect.StringKind || f.Message() != nil && f.Message().FullName() == "google.protobuf.StringValue" {
			return v.String(), nil
		}
	case string:
		if f.Enum() != nil && f.Enum().Values().ByName(protoreflect.Name(v)) == nil { // which protojson would leave out
			return nil, fmt.Errorf("%q is not one of %s", v, f.Enum().FullName())
		}
	}
	return value, nil
}
