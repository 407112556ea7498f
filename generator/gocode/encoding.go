package gocode

import (
	"encoding/base64"
	"fmt"
	"path"
	"strconv"

	"github.com/idemgen/idemgen/generator/model"
)

const protobufPath = "github.com/idemgen/idemgen/runtime/protobuf"

// encoding writes what unpacks the values of a topic, if they are packed in anything.
func encoding(f *file, t *model.Topic) {
	if t.Payload.Encoding == "" {
		return
	}
	doc := fmt.Sprintf("%s unpacks the values of topic %q.", encodingType(t), t.Name)
	m := t.Payload.Messages
	if m == nil {
		f.decl(doc, text("type %s =", encodingType(t)).Add(strictjson("Quoted")))
		return
	}
	f.decl(doc, text("type %s =", encodingType(t)).Add(qual(protobufPath, "Encoding")))
	framed := ""
	if m.Framed {
		framed = ", behind what the serializers of Confluent's registry write"
	}
	f.decl(fmt.Sprintf("%s is %s of %s%s.", messageVar(t), m.Name, path.Base(m.File), framed),
		text("var %s =", messageVar(t)).Add(qual(protobufPath, "New").Call(text(schemaConst(t)), lit(m.Name), lit(m.Framed))))
	f.decl(fmt.Sprintf("%s is %s and what it imports, a FileDescriptorSet in base64.", schemaConst(t), path.Base(m.File)),
		text("const %s = \"\"%s", schemaConst(t), lines(base64.StdEncoding.EncodeToString(m.Schema))))
}

// widest is how long a line of a schema is.
const widest = 88

// lines is a long text as a sum of short ones.
func lines(long string) (sum string) {
	for long != "" {
		line := long[:min(len(long), widest)]
		sum += " +\n" + strconv.Quote(line)
		long = long[len(line):]
	}
	return sum
}

// encodingLiteral is what unpacks the values of a topic, ready for use.
func encodingLiteral(t *model.Topic) *expr {
	if t.Payload.Messages == nil {
		return text(encodingType(t)).Values()
	}
	return text(encodingType(t)).Values(pair("Message", text(messageVar(t))))
}

// encodings say what the values of topics are packed in, if any are.
func encodings(topics []*model.Topic) []code {
	var all []code
	for _, t := range topics {
		if t.Payload.Encoding == "" {
			continue
		}
		packing := qual(idemtestPath, "JSONString").Values()
		if t.Payload.Messages != nil {
			packing = text(messageVar(t))
		}
		for _, name := range t.Kafka {
			all = append(all, pair(strconv.Quote(name), packing))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []code{pair("Encodings", text("map[string]").Add(qual(idemtestPath, "Packing")).Values(all...))}
}
