package httpcall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/idemgen/idemgen/runtime/httpcall"
)

// The error of Do is one that an effect can return as it is: it says whether the call did
// something, and whether another one makes sense.
func ExampleDo() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "" {
			http.Error(w, "no key", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"id": 7}`)
	}))
	defer provider.Close()
	for _, key := range []string{"payment-1", ""} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, provider.URL, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
		answer, err := httpcall.Do(provider.Client(), request)
		if refused, ok := errors.AsType[*httpcall.StatusError](err); ok {
			fmt.Println("refused:", refused.Answer.Status)
			continue
		}
		fmt.Println(string(answer.Body), err)
	}
	// Output:
	// {"id": 7} <nil>
	// refused: 400
}
