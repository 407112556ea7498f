package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/retention"
)

// retention compares how long a topic keeps records with how long their keys are known.
func (k *cluster) retention(ctx context.Context, t Topic) {
	if t.Window == 0 {
		return
	}
	about := "retention of " + t.Name
	kept, err := k.kept(ctx, t.Name)
	if err != nil {
		k.add(Skipped, about, "compare retention.ms with the window of the keys, "+days(t.Window), "the topic's configuration could not be read: %v", err)
		return
	}
	const advice = "reading the topic from its beginning again may apply events twice, because their keys are no longer known: make the window longer, or the retention shorter"
	switch {
	case kept == retention.ForEver:
		k.add(Warning, about, advice, "records are kept for ever, and their keys for %s", days(t.Window))
	case kept > t.Window:
		k.add(Warning, about, advice, "records are kept for %s, and their keys for %s", days(kept), days(t.Window))
	default:
		k.add(OK, about, "", "records are kept for %s, and their keys for %s", days(kept), days(t.Window))
	}
}

// kept returns how long a topic keeps records.
func (k *cluster) kept(ctx context.Context, topic string) (time.Duration, error) {
	configs, err := k.admin.DescribeTopicConfigs(ctx, topic)
	switch {
	case err != nil:
		return 0, err
	case len(configs) == 0:
		return 0, errors.New("the broker did not send it")
	case configs[0].Err != nil:
		return 0, configs[0].Err
	}
	config := map[string]string{}
	for _, c := range configs[0].Configs {
		config[c.Key] = c.MaybeValue()
	}
	return retention.Of(config)
}

// days is a time as a spec has it, if it is whole days.
func days(d time.Duration) string {
	if n := d / (24 * time.Hour); n > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", n)
	}
	return d.String()
}
