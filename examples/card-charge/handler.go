package cardcharge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
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
		return Receipt{}, idem.NotDone(err)
	}
	request.Header.Set("Idempotency-Key", delivery.Key.String())
	response, err := s.Client.Do(request)
	if err != nil {
		return Receipt{}, idem.Interrupted(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return Receipt{}, idem.Interrupted(err)
	}
	return receipt(response, body)
}

// receipt reads the provider's answer.
func receipt(response *http.Response, body []byte) (Receipt, error) {
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		var r struct {
			ID string    `json:"id"`
			At time.Time `json:"at"`
		}
		if err := json.Unmarshal(body, &r); err != nil {
			return Receipt{}, idem.Interrupted(err)
		}
		return Receipt{ChargeID: r.ID, ChargedAt: r.At}, nil
	case status == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return Receipt{}, idem.RetryAfter(time.Duration(max(1, seconds))*time.Second, fmt.Errorf("the provider answers %d", status))
	case status >= 400 && status < 500: // a card that is refused stays refused
		return Receipt{}, idem.Permanent(fmt.Errorf("the provider answers %d", status))
	default:
		return Receipt{}, idem.Interrupted(fmt.Errorf("the provider answers %d", status))
	}
}
