package gocode

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/visible"
)

const (
	avroPath       = runtimePath + "/avro"
	framedJSONPath = runtimePath + "/framedjson"
	protobufPath   = runtimePath + "/protobuf"
)

// packing is what the values or the record keys of a topic are packed in, with the names of what
// unpacks them.
type packing struct {
	*model.Packed
	topic *model.Topic
	end   string // of the names: "OfKeys", or ""
	what  string // "values", "record keys"
	local string // variable in the topic's function: "message", "key"
	field string // of the plan: "encoding", "keyEncoding"
}

// packings are what has to be unpacked of a topic's records, in this order: keys, then values.
func packings(t *model.Topic) (all []packing) {
	if k := t.RecordKey; k != nil && k.Unpacks() {
		all = append(all, packing{&k.Packed, t, "OfKeys", "record keys", "key", "keyEncoding"})
	}
	if t.Payload.Unpacks() {
		all = append(all, packing{&t.Payload.Packed, t, "", "values", "message", "encoding"})
	}
	return all
}

func (p packing) ofKeys() bool { return p.end != "" }

func (p packing) encodingType() string { return goname.Unexported(p.topic.GoName) + "Encoding" + p.end }

func (p packing) messageVar() string { return goname.Unexported(p.topic.GoName) + "Message" + p.end }

func (p packing) schemaConst() string { return goname.Unexported(p.topic.GoName) + "Schema" + p.end }

// declare writes what unpacks them.
func (p packing) declare(f *file) {
	doc := fmt.Sprintf("%s unpacks the %s of topic %q.", p.encodingType(), p.what, p.topic.Name)
	m := p.Messages
	switch {
	case m == nil && p.Encoding == "confluent_json" && p.ofKeys():
		f.alias(doc, p.encodingType(), qual(framedJSONPath, "KeyEncoding"))
	case m == nil && p.Encoding == "confluent_json":
		f.alias(doc, p.encodingType(), qual(framedJSONPath, "Encoding"))
	case m == nil:
		f.alias(doc, p.encodingType(), strictjson("Quoted"))
	case m.Avro:
		p.declareAvro(f, doc)
	default:
		p.declareProtobuf(f, doc)
	}
}

// behindPrefix is said of messages that have one.
const behindPrefix = "the prefix that serializers of Confluent's registry write"

func (p packing) declareProtobuf(f *file, doc string) {
	m := p.Messages
	f.alias(doc, p.encodingType(), qual(protobufPath, "Encoding"))
	framed := ""
	if m.Framed {
		framed = ", after " + behindPrefix
	}
	is := qual(protobufPath, "New").Call(text(p.schemaConst()), lit(m.Name), lit(m.Framed))
	f.variable(fmt.Sprintf("%s is %s of %s%s.", p.messageVar(), m.Name, path.Base(m.File), framed), p.messageVar(), p.made(is))
	f.decl(fmt.Sprintf("%s is %s with its imports: a FileDescriptorSet in base64.", p.schemaConst(), path.Base(m.File)),
		text("const %s = \"\"%s", p.schemaConst(), lines(base64.StdEncoding.EncodeToString(m.Schema))))
}

func (p packing) declareAvro(f *file, doc string) {
	m := p.Messages
	f.alias(doc, p.encodingType(), qual(avroPath, "Encoding"))
	says, construct := path.Base(m.File), "New"
	if m.Name != "" {
		says = m.Name + " of " + says
	}
	if m.Framed {
		says, construct = fmt.Sprintf("%s, for %s after %s", says, p.what, behindPrefix), "NewFramed"
	}
	is := qual(avroPath, construct).Call(text(p.schemaConst()), lit(m.Name))
	f.variable(fmt.Sprintf("%s is %s.", p.messageVar(), says), p.messageVar(), p.made(is))
	schema := "`" + string(m.Schema) + "`"
	if strings.ContainsRune(string(m.Schema), '`') || strings.ContainsFunc(string(m.Schema), visible.Hidden) {
		schema = strconv.Quote(string(m.Schema))
	}
	f.decl(fmt.Sprintf("%s is %s.", p.schemaConst(), path.Base(m.File)), text("const %s = %s", p.schemaConst(), schema))
}

// made is a message that knows whether it is a value or a record key.
func (p packing) made(is *expr) code {
	if p.ofKeys() {
		return is.Dot("OfKeys").Call()
	}
	return is
}

// literal is what unpacks them, ready for use. They may become so many bytes of JSON; 0 is any
// number.
func (p packing) literal(most int64) *expr {
	if p.Messages == nil {
		return text(p.encodingType()).Values()
	}
	message := p.messageVar()
	if p.Messages.Registry() {
		message = p.local
	}
	fields := []code{pair("Message", text(message))}
	if most > 0 {
		fields = append(fields, pair("Most", size(most)))
	}
	return text(p.encodingType()).Values(fields...)
}

// registryParam is the parameter for the registry that has the schemas of values and keys.
func registryParam() code { return named("registry", qual(avroPath, "Registry")) }

// readsRegistry reports whether a topic of the service has values or keys whose schemas are in a
// registry.
func readsRegistry(topics []*model.Topic) bool {
	return slices.ContainsFunc(topics, func(t *model.Topic) bool { return len(t.OfRegistry()) > 0 })
}

// inRegistry are the packings whose schemas are in a registry.
func inRegistry(t *model.Topic) []packing {
	return slices.DeleteFunc(packings(t), func(p packing) bool { return !p.Messages.Registry() })
}

// ownRegistry is a registry of the service's own schemas, for tests.
func ownRegistry(topics []*model.Topic) code {
	var own []code
	for _, t := range topics {
		for _, p := range inRegistry(t) {
			own = append(own, text(p.messageVar()))
		}
	}
	return qual(avroPath, "Own").Call(own...)
}

// prepare is what fetches the schemas of a topic's records.
func prepare(of []packing) code {
	if len(of) == 1 {
		return text(of[0].local + ".Prepare")
	}
	var all []code
	for _, p := range of {
		all = append(all, text(p.local))
	}
	return qual(avroPath, "Prepare").Call(all...)
}

// open unpacks the key and the value of m.
func open(g *group, t *model.Topic) {
	is := ":="
	for _, p := range packings(t) {
		g.Add(text("m, err %s p.%s.Open(m)", is, p.field))
		g.If(text("err != nil")).Block(text("return err"))
		is = "="
	}
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
