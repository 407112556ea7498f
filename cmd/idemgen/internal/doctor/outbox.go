package doctor

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// outbox looks at events that wait to be sent, where there is a table of them.
func (e *examination) outbox(ctx context.Context) error {
	if e.lacks(ctx, "idem_outbox") {
		return nil
	}
	o, err := operate.OutboxOf(ctx, e.Database)
	if err != nil {
		return err
	}
	unsent := count(o.Waiting, "event")
	switch {
	case o.Waiting == 0 && o.Leader == "":
		e.add(OK, "outbox", "", "all events are sent, and no relay leads")
	case o.Leader == "":
		e.add(Warning, "outbox", "start a relay, or read the logs of the relays that run", "unsent: %s, the first one for %s, and no relay leads", unsent, o.Oldest)
	case o.Oldest > time.Minute:
		e.add(Failure, "outbox", manual("The outbox is stuck"), "unsent: %s, the first one for %s, although a relay leads: %s", unsent, o.Oldest, o.Leader)
	default:
		e.add(OK, "outbox", "", "unsent: %s, and a relay leads: %s", unsent, o.Leader)
	}
	return nil
}
