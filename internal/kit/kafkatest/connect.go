//go:build unix

package kafkatest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/program"
)

// Connect is a worker of Kafka Connect that knows Debezium's connector for Postgres. It runs until
// Close, or until this process ends.
type Connect struct {
	server
	url string
}

// RunConnect starts a worker for a broker. env is added to its environment: a setting ${env:NAME}
// of a connector reads it. ctx limits only the start.
func RunConnect(ctx context.Context, broker string, env ...string) (*Connect, error) {
	j, err := newJVM(ctx)
	if err != nil {
		return nil, err
	}
	addrs, err := freeAddrs(1)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idemtest-connect-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "worker.properties")
	argv := j.argv("512m", "org.apache.kafka.connect.cli.ConnectStandalone", file)
	c := &Connect{server{dir, &program.Program{Dir: dir, Argv: argv, Env: env}}, "http://" + addrs[0]}
	err = writeProperties(file, map[string]string{
		"bootstrap.servers": broker, "listeners": c.url,
		"key.converter":                "org.apache.kafka.connect.json.JsonConverter",
		"value.converter":              "org.apache.kafka.connect.json.JsonConverter",
		"offset.storage.file.filename": filepath.Join(dir, "offsets"), "offset.flush.interval.ms": "500",
		"plugin.discovery": "service_load",
		"config.providers": "env", "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
	})
	if err == nil {
		err = c.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start Kafka Connect: %w", err), c.Close())
	}
	return c, nil
}

// Restart starts a worker that crashed, at the same address, and waits until it answers. A worker
// of this kind keeps no connectors: Put them again.
func (c *Connect) Restart(ctx context.Context) error {
	return c.begin(ctx, func(ctx context.Context) error {
		_, err := c.ask(ctx, http.MethodGet, "/connectors", nil)
		return err
	})
}

// Put makes a connector of settings, an object of JSON, or gives it new ones.
func (c *Connect) Put(ctx context.Context, name string, settings []byte) error {
	_, err := c.ask(ctx, http.MethodPut, "/connectors/"+name+"/config", settings)
	return err
}

// Offsets is where a connector says that it stands, as JSON.
func (c *Connect) Offsets(ctx context.Context, name string) (string, error) {
	body, err := c.ask(ctx, http.MethodGet, "/connectors/"+name+"/offsets", nil)
	return string(body), err
}

// Forget stops a connector, and removes the offsets that it keeps, so that it begins anew when
// Resume starts it.
func (c *Connect) Forget(ctx context.Context, name string) error {
	at := "/connectors/" + name
	if _, err := c.ask(ctx, http.MethodPut, at+"/stop", nil); err != nil {
		return err
	}
	for end := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) { // until it has stopped
		_, err := c.ask(ctx, http.MethodDelete, at+"/offsets", nil)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// Resume starts a connector that is stopped.
func (c *Connect) Resume(ctx context.Context, name string) error {
	_, err := c.ask(ctx, http.MethodPut, "/connectors/"+name+"/resume", nil)
	return err
}

// Status is the state of a connector's task, such as RUNNING, and why it failed. State is "" while
// it has none.
func (c *Connect) Status(ctx context.Context, name string) (state, why string, err error) {
	body, err := c.ask(ctx, http.MethodGet, "/connectors/"+name+"/status", nil)
	if err != nil {
		return "", "", err
	}
	var status struct {
		Connector struct{ State, Trace string }
		Tasks     []struct{ State, Trace string }
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return "", "", err
	}
	if len(status.Tasks) == 0 {
		if status.Connector.State == "FAILED" {
			return "FAILED", status.Connector.Trace, nil
		}
		return "", "", nil
	}
	return status.Tasks[0].State, status.Tasks[0].Trace, nil
}

// ask sends a request to the worker, and returns what it answers.
func (c *Connect) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.TrimSpace(string(answer)))
	}
	return answer, err
}
