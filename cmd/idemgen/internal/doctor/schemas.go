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
		if t.Schema == "" {
			continue
		}
		if e.Registry == "" {
			e.add(Skipped, "schemas", "set $SCHEMA_REGISTRY_URL, or write --registry", "they were not looked at")
			return
		}
		if err := e.subject(ctx, t); err != nil {
			e.add(Failure, "schemas of "+t.Name, "is the address right, and does this machine reach it?", "%v", err)
		}
	}
}

// subject reads the schemas under the name that serializers give those of a topic, by default.
func (e *examination) subject(ctx context.Context, t Topic) error {
	client, err := sr.NewClient(sr.URLs(strings.Split(e.Registry, ",")...))
	if err != nil {
		return errors.New("--registry, or $SCHEMA_REGISTRY_URL, is no address of a schema registry") // not told: it may hold a password
	}
	is, err := avromsg.New(t.Schema, t.Record)
	if err != nil {
		return err
	}
	subject, about := t.Name+"-value", "schemas of "+t.Name
	versions, err := client.Schemas(ctx, subject)
	if answer, ok := errors.AsType[*sr.ResponseError](err); ok && answer.ErrorCode == sr.ErrSubjectNotFound.Code {
		e.add(Warning, about, "if producers name their schemas after records, and not after topics, look there", "the registry has no subject %s", subject)
		return nil
	}
	if err != nil {
		return fmt.Errorf("the registry does not answer: %w", err)
	}
	var wrong []string
	for _, v := range versions {
		texts, err := registry.New(client).Schema(ctx, uint32(v.ID))
		if err == nil {
			_, err = is.Written(texts)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("version %d, schema %d: %v", v.Version, v.ID, err))
		}
	}
	if len(wrong) > 0 {
		e.add(Failure, about, "their records become dead letters: take what they need into the spec's file", "%d of %d versions of %s cannot be read: %s", len(wrong), len(versions), subject, strings.Join(wrong, "; "))
		return nil
	}
	e.add(OK, about, "", "%d of %d versions of %s can be read", len(versions), len(versions), subject)
	return nil
}
