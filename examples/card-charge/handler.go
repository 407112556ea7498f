package cardcharge

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/idemgen/idemgen/runtime/httpcall"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct {
	Provider string       // address to which charges are posted
	Client   *http.Client // without a time-out of its own: the context has effect.timeout
}

// ChargeRequested charges the card. The provider takes two calls with one Idempotency-Key for one
// charge, and answers both alike: so it is made again, if nobody knows what the first one did.
func (s Service) ChargeRequested(ctx context.Context, e ChargeRequested) (Receipt, error) {
	delivery, _ := idem.DeliveryFrom(ctx)
	order, err := json.Marshal(map[string]any{"order": e.OrderID.String(), "cents": e.Cents, "card": e.CardToken})
	if err != nil {
		return Receipt{}, idem.Permanent(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Provider, bytes.NewReader(order))
	if err != nil {
		return Receipt{}, idem.Unavailable(err) // the configured provider address is not a valid URL
	}
	request.Header.Set("Idempotency-Key", delivery.Key.String())
	answer, err := httpcall.Do(s.Client, request) // a 4xx response (card declined) is permanent
	if err != nil {
		return Receipt{}, err
	}
	var r struct {
		ID string    `json:"id"`
		At time.Time `json:"at"`
	}
	if err := json.Unmarshal(answer.Body, &r); err != nil {
		return Receipt{}, idem.Interrupted(err)
	}
	return Receipt{ChargeID: r.ID, ChargedAt: r.At}, nil
}
