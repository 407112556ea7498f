package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/runtime/avro/registry"
)

// schemas looks whether records of the schemas in the registry can be read.
func (e *examination) schemas(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, t := range e.Topics {
		for _, s := range t.Schemas {
			if e.Registry == "" {
				e.add(Skipped, "schemas", "set $SCHEMA_REGISTRY_URL, or write --registry", "not examined: no address was given")
				return
			}
			if err := e.subjects(ctx, t.Name, s); err != nil {
				e.add(Failure, aboutSchemas(t.Name, s), reach, "%v", err)
			}
		}
	}
}

// subjects reads the schemas under the names that serializers give them: after the topic, the
// record, or both.
func (e *examination) subjects(ctx context.Context, topic string, s Schema) error {
	client, err := sr.NewClient(sr.URLs(strings.Split(e.Registry, ",")...))
	if err != nil { // not told: it may hold a password
		return errors.New("--registry, or $SCHEMA_REGISTRY_URL, is not a valid address of a schema registry")
	}
	is, err := avromsg.New(s.Text, s.Record)
	if err != nil {
		return err
	}
	subjects := []string{topic + s.Of}
	for _, record := range is.Records() {
		subjects = append(subjects, record, topic+"-"+record)
	}
	found, differ := 0, []string(nil)
	for _, subject := range subjects {
		versions, err := client.Schemas(ctx, subject)
		if answer, ok := errors.AsType[*sr.ResponseError](err); ok && answer.ErrorCode == sr.ErrSubjectNotFound.Code {
			continue
		}
		if err != nil {
			return registry.InWords(err)
		}
		for _, v := range versions {
			found++
			texts, err := registry.New(client).Schema(ctx, uint32(v.ID))
			if err == nil {
				err = fits(is, texts)
			}
			if err != nil {
				differ = append(differ, fmt.Sprintf("version %d of %s, schema %d: %v", v.Version, subject, v.ID, err))
			}
		}
	}
	about := aboutSchemas(topic, s)
	switch {
	case found == 0:
		e.add(Warning, about, "check under which subject the producers register their schemas", "the registry has none of the subjects %s", strings.Join(subjects, ", "))
	case len(differ) > 0:
		e.add(Warning, about, `records that lack what their event reads become dead letters: read "Schemas of a registry" in idemgen's docs/encodings.md`, "%d of %d differ from the spec's by the rules of Avro: %s", len(differ), found, strings.Join(differ, "; "))
	default:
		e.add(OK, about, "", "%d in the registry, which fit the spec's", found)
	}
	return nil
}

func aboutSchemas(topic string, s Schema) string {
	if s.Of == "-key" {
		return "schemas of the record keys of " + topic
	}
	return "schemas of " + topic
}

// fits says where a schema is not what the spec's has.
func fits(is *avromsg.Type, texts []string) error {
	w, err := is.Written(texts)
	if err != nil {
		return err
	}
	return is.Fits(w)
}
