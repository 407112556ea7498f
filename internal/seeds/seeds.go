// Package seeds reads the list of brokers to which a client connects first. It must not import any
// other package of this module.
package seeds

import "strings"

// Of returns the addresses of a list, "host:port,host:port". Blanks and line ends around them, and
// empty ones, as after a last comma, do not count, as with librdkafka.
func Of(brokers string) (all []string) {
	for one := range strings.SplitSeq(brokers, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}
