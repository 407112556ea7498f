package spec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/sampler"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/survey"
)

// mostSampled bounds what is kept of a sample.
const mostSampled = 20_000

// fromTopic says which topic a first spec describes.
type fromTopic struct {
	command.KafkaFlags
	name string
	most int
}

func (f *fromTopic) define(cmd *cobra.Command) {
	f.KafkaFlags.Define(cmd)
	cmd.Flags().StringVar(&f.name, "from-topic", "", "describe this topic in the spec, from its newest records")
	cmd.Flags().IntVar(&f.most, "sample", 2000, "with --from-topic: number of records to read")
}

// read reads a sample of the topic.
func (f *fromTopic) read(ctx context.Context) (*survey.Report, error) {
	if f.most < 1 || f.most > mostSampled {
		return nil, fmt.Errorf("--sample %d: want 1 to %d", f.most, mostSampled)
	}
	opts, err := f.Options()
	if err != nil {
		return nil, err
	}
	if opts == nil {
		return nil, errors.New("--brokers or $KAFKA_BROKERS missing: write --brokers host:port")
	}
	return sampler.Of(ctx, opts, f.name, f.most)
}

// examine reads a sample of the topic, prints what it shows, and has the spec describe it.
func (f *fromTopic) examine(cmd *cobra.Command, start *generator.Start, machine *command.Answer) (err error) {
	if start.Topic, err = f.read(cmd.Context()); err != nil {
		return err
	}
	machine.Members["topic"] = start.Topic
	if !machine.Wanted {
		page, err := pages.Text("topic", start.Topic)
		fmt.Fprint(cmd.OutOrStdout(), page)
		if err != nil {
			return err
		}
	}
	spec := filepath.Join(start.Dir, generator.SpecFile)
	if _, err := os.Stat(spec); err == nil {
		return fmt.Errorf("%s exists, and is not changed", filepath.ToSlash(spec))
	}
	return specless(start.Topic)
}

// specless is what to do if no spec can be written for values of a form; nil if one can.
func specless(r *survey.Report) error {
	what, do := r.Form().Form, "a spec reads JSON objects, Avro and Protobuf"
	switch what {
	case survey.JSONObject, survey.JSONText, survey.JSONFramed:
		return nil
	case survey.Framed, survey.Binary:
		do = "put the schema file, .avsc or .proto, beside the spec, and name it in payload: {encoding: ..., schema: ...}; docs/encodings.md has both under \"Encoded values\""
	}
	return fmt.Errorf("no spec was written: most values of topic %s are %s; %s", r.Topic, what, do)
}
