// Package registry reads the schemas of Avro values from a registry with the API of Confluent's:
// Confluent's own, Redpanda's, Karapace, and Apicurio below /apis/ccompat/v7.
//
//	client, err := sr.NewClient(sr.URLs("http://localhost:8081"))
//	consumer, err := orders.NewConsumer(db, registry.New(client))
//
// It must not import any package of this module but avro.
package registry

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/idemgen/idemgen/runtime/avro"
)

// New returns the registry that a client asks. The client's options say how long it may take, 5
// seconds by default, and who asks.
func New(client *sr.Client) avro.Registry { return &registry{client} }

// errOther is of an answer that has no schema, and no error of the registry: a login, a
// maintenance page or another service answers in its place. Records wait.
var errOther = errors.New("what answers at the address of the schema registry is not one: its answer has no schema")

type registry struct{ client *sr.Client }

// Schema implements [avro.Registry].
func (r *registry) Schema(ctx context.Context, number uint32) ([]string, error) {
	schema, err := r.client.SchemaByID(ctx, int(number))
	if err != nil {
		return nil, InWords(err)
	}
	if schema.Schema == "" {
		return nil, errOther
	}
	return r.with(ctx, schema, map[sr.SchemaReference]bool{})
}

// with is a schema behind those that it refers to, each once.
func (r *registry) with(ctx context.Context, schema sr.Schema, seen map[sr.SchemaReference]bool) (all []string, err error) {
	for _, ref := range schema.References {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		is, err := r.client.SchemaByVersion(ctx, ref.Subject, ref.Version)
		if err != nil {
			return nil, fmt.Errorf("version %d of %s, to which it refers: %w", ref.Version, ref.Subject, InWords(err))
		}
		if is.Schema.Schema == "" {
			return nil, errOther
		}
		more, err := r.with(ctx, is.Schema, seen)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return append(all, schema.Schema), nil
}

// mostText is how much of an answer that is no error of the registry stands in an error.
const mostText = 200

// credentials are those in a URL.
var credentials = regexp.MustCompile(`//[^/@\s"]+@`)

// InWords is an error of a registry's client, for people: what answers, or that nothing does. It
// has no credentials. [avro.ErrNoSchema] is what only the registry's own code for a schema that is
// not there means: a proxy, or a wrong path, answers with 404 as well.
func InWords(err error) error {
	answer, ok := errors.AsType[*sr.ResponseError](err)
	switch {
	case !ok:
		return errors.New("the schema registry does not answer: " + credentials.ReplaceAllString(err.Error(), "//"))
	case answer.ErrorCode == sr.ErrSchemaNotFound.Code:
		return avro.ErrNoSchema
	}
	return fmt.Errorf("the schema registry answers with status %d: %.*s", answer.StatusCode, mostText, answer.Error())
}
