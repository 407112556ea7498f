// Package registry reads the schemas of Avro values from a schema registry that has Confluent's
// API: Confluent's own, Redpanda's, Karapace, and Apicurio at /apis/ccompat/v7.
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

// New returns a registry that client queries. The client's options set the timeout, 5 seconds by
// default, and the credentials.
func New(client *sr.Client) avro.Registry { return &registry{client} }

// errOther is the error for a response that contains neither a schema nor an error of a registry:
// it may come from a login page, a maintenance page or another service. Records wait.
var errOther = errors.New("the server at the schema registry's address is not a schema registry: its response has no schema")

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

// SchemaByGUID implements [avro.GUIDs].
func (r *registry) SchemaByGUID(ctx context.Context, guid string) ([]string, error) {
	found, err := r.client.SchemaByGUID(ctx, guid)
	if err != nil {
		return nil, InWords(err)
	}
	if found.Schema.Schema == "" {
		return nil, errOther
	}
	return r.with(ctx, found.Schema, map[sr.SchemaReference]bool{})
}

// mostReferences is how many schemas a schema may refer to, directly or not.
const mostReferences = 100

// errReferences is the error for a schema that refers to more: its records become dead letters.
type errReferences struct{}

func (errReferences) Error() string {
	return fmt.Sprintf("it references more than %d other schemas", mostReferences)
}

// Is implements errors.Is.
func (errReferences) Is(target error) bool { return target == avro.ErrNoSchema }

// with returns a schema after the schemas that it refers to, each of them once.
func (r *registry) with(ctx context.Context, schema sr.Schema, seen map[sr.SchemaReference]bool) (all []string, err error) {
	for _, ref := range schema.References {
		if seen[ref] {
			continue
		}
		if seen[ref] = true; len(seen) > mostReferences {
			return nil, errReferences{}
		}
		is, err := r.client.SchemaByVersion(ctx, ref.Subject, ref.Version)
		if err != nil {
			return nil, fmt.Errorf("version %d of %s, which it references: %w", ref.Version, ref.Subject, InWords(err))
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

// mostText is how many bytes of an unexpected response an error contains.
const mostText = 200

// credentials matches the credentials in a URL.
var credentials = regexp.MustCompile(`//[^/@\s"]+@`)

// InWords converts an error of a registry's client into one for operators, without credentials. It
// returns [avro.ErrNoSchema] only for the registry's own code for a missing schema, not for every
// status 404, which a proxy or a wrong path may also cause.
func InWords(err error) error {
	answer, ok := errors.AsType[*sr.ResponseError](err)
	switch {
	case !ok:
		return errors.New("the schema registry does not respond: " + credentials.ReplaceAllString(err.Error(), "//"))
	case answer.ErrorCode == sr.ErrSchemaNotFound.Code:
		return avro.ErrNoSchema
	}
	return fmt.Errorf("the schema registry answers with status %d: %.*s", answer.StatusCode, mostText, answer.Error())
}
