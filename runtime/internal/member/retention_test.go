package member_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// How long a topic keeps records is compared with how long their keys are known.
func TestRetentionIsComparedWithTheWindow(t *testing.T) {
	for name, test := range map[string]struct {
		config map[string]string
		deny   bool
		want   string // in the log; "" = nothing
	}{
		"as the window":      {config: map[string]string{"retention.ms": "86400000"}},
		"shorter":            {config: map[string]string{"retention.ms": "3600000"}},
		"longer":             {config: map[string]string{"retention.ms": "86400001"}, want: "window=24h0m0s kept=24h0m0.001s"},
		"for ever":           {config: map[string]string{"retention.ms": "-1"}, want: "never deletes"},
		"compacted":          {config: map[string]string{"retention.ms": "3600000", "cleanup.policy": "compact"}, want: "never deletes"},
		"compacted and not":  {config: map[string]string{"retention.ms": "3600000", "cleanup.policy": "compact,delete"}},
		"not ours to know":   {deny: true, want: "is unknown"},
		"the broker's usual": {want: "window=24h0m0s kept=168h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				cluster, brokers := startCluster(t, 1)
				if err := cluster.DeleteTopic(topicName); err != nil {
					t.Fatal(err)
				}
				if err := cluster.CreateTopic(topicName, 1, test.config); err != nil {
					t.Fatal(err)
				}
				asked := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Count: -1, Observe: true})
				if test.deny {
					cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Count: -1, Err: kerr.TopicAuthorizationFailed})
				}
				log := &testLog{}
				s, sub, sink := open(t, brokers, k), subscription(), newSink(t, newLedger())
				s.Logger = textLogger(log)
				sub.Window = func(string) time.Duration { return 24 * time.Hour }
				stop := start(t, s, sub, sink)
				eventually(t, "the partition", func() bool { return sink.owns() == 1 })
				if test.want != "" {
					eventually(t, "the warning", func() bool { return strings.Contains(log.String(), test.want) })
				}
				eventually(t, "the question", func() bool { return asked.Hits() > 0 })
				if err := stop(); err != nil {
					t.Error(err)
				}
				if test.want == "" && strings.Contains(log.String(), "window of its keys") {
					t.Error(log.String())
				}
			})
		})
	}
}
