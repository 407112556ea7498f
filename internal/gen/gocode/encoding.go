package gocode

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

const (
	avroPath       = runtimePath + "/avro"
	framedJSONPath = runtimePath + "/framedjson"
	protobufPath   = runtimePath + "/protobuf"
)

// encoding writes what unpacks the values of a topic, if they are packed in anything.
func encoding(f *file, t *model.Topic) {
	if t.Payload.Encoding == "" {
		return
	}
	doc := fmt.Sprintf("%s unpacks the values of topic %q.", encodingType(t), t.Name)
	m := t.Payload.Messages
	if m == nil {
		is := code(strictjson("Quoted"))
		if t.Payload.Encoding == "confluent_json" {
			is = qual(framedJSONPath, "Encoding")
		}
		f.decl(doc, text("type %s =", encodingType(t)).Add(is))
		return
	}
	if m.Avro {
		avroSchema(f, t, doc)
		return
	}
	f.decl(doc, text("type %s =", encodingType(t)).Add(qual(protobufPath, "Encoding")))
	framed := ""
	if m.Framed {
		framed = ", after the prefix that serializers of Confluent's registry write"
	}
	f.decl(fmt.Sprintf("%s is %s of %s%s.", messageVar(t), m.Name, path.Base(m.File), framed),
		text("var %s =", messageVar(t)).Add(qual(protobufPath, "New").Call(text(schemaConst(t)), lit(m.Name), lit(m.Framed))))
	f.decl(fmt.Sprintf("%s is %s with its imports: a FileDescriptorSet in base64.", schemaConst(t), path.Base(m.File)),
		text("const %s = \"\"%s", schemaConst(t), lines(base64.StdEncoding.EncodeToString(m.Schema))))
}

// avroSchema writes what unpacks values in Avro.
func avroSchema(f *file, t *model.Topic, doc string) {
	m := t.Payload.Messages
	f.decl(doc, text("type %s =", encodingType(t)).Add(qual(avroPath, "Encoding")))
	says, construct := path.Base(m.File), "New"
	if m.Name != "" {
		says = m.Name + " of " + says
	}
	if m.Framed {
		says, construct = says+", for values after the prefix that serializers of Confluent's registry write", "NewFramed"
	}
	f.decl(fmt.Sprintf("%s is %s.", messageVar(t), says), text("var %s =", messageVar(t)).Add(qual(avroPath, construct).Call(text(schemaConst(t)), lit(m.Name))))
	schema := "`" + string(m.Schema) + "`"
	if strings.ContainsAny(string(m.Schema), "`\r") {
		schema = strconv.Quote(string(m.Schema))
	}
	f.decl(fmt.Sprintf("%s is %s.", schemaConst(t), path.Base(m.File)), text("const %s = %s", schemaConst(t), schema))
}

// registryParam is the parameter for the registry that has the schemas of values.
func registryParam() code { return named("registry", qual(avroPath, "Registry")) }

// readsRegistry reports whether a topic of the service has values whose schemas are in a registry.
func readsRegistry(topics []*model.Topic) bool {
	return slices.ContainsFunc(topics, func(t *model.Topic) bool { return t.Payload.Messages.Registry() })
}

// ownRegistry is a registry of the service's own schemas, for tests.
func ownRegistry(topics []*model.Topic) code {
	var own []code
	for _, t := range topics {
		if t.Payload.Messages.Registry() {
			own = append(own, text(messageVar(t)))
		}
	}
	return qual(avroPath, "Own").Call(own...)
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

// encodingLiteral is what unpacks the values of a topic, ready for use. They may become so many
// bytes of JSON; 0 is any number.
func encodingLiteral(t *model.Topic, most int64) *expr {
	if t.Payload.Messages == nil {
		return text(encodingType(t)).Values()
	}
	message := messageVar(t)
	if t.Payload.Messages.Registry() {
		message = "message"
	}
	fields := []code{pair("Message", text(message))}
	if most > 0 {
		fields = append(fields, pair("Most", size(most)))
	}
	return text(encodingType(t)).Values(fields...)
}
