//go:build unix

package kafkatest

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/idemgen/idemgen/internal/kit/maven"
	"github.com/idemgen/idemgen/internal/kit/program"
)

// apicurio is Apicurio Registry 3.3.3 with all that it needs, but Java 21.
var apicurio = maven.Archive{
	Path: "io/apicurio/apicurio-registry-app/3.3.3/apicurio-registry-app-3.3.3-all.tar.gz",
	Sum:  "8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63",
}

const apicurioJava = 21

// Registry is a registry of schemas, Apicurio, which has the API of Confluent's. It runs until
// Close, or until this process ends.
type Registry struct {
	server
	url string
}

// RunRegistry starts a registry. ctx limits only the start.
func RunRegistry(ctx context.Context) (*Registry, error) {
	java, err := java(ctx, apicurioJava)
	if err != nil {
		return nil, err
	}
	home, err := once("Apicurio Registry", "apicurio", "apicurio-"+apicurio.Sum[:16], func(work string) error {
		return fetchTar(ctx, work, apicurio)
	})
	if err != nil {
		return nil, err
	}
	addrs, err := freeAddrs(2)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idemtest-registry-")
	if err != nil {
		return nil, err
	}
	p := &program.Program{Dir: dir, Argv: jvm{java, home}.argv("256m", "io.quarkus.bootstrap.runner.QuarkusEntryPoint"), Env: []string{
		"APICURIO_STORAGE_KIND=sql", "APICURIO_STORAGE_SQL_KIND=h2",
		"APICURIO_DATASOURCE_URL=jdbc:h2:file:" + filepath.Join(dir, "registry") + ";WRITE_DELAY=0",
	}}
	for i, of := range []string{"HTTP", "MANAGEMENT"} {
		host, port, err := net.SplitHostPort(addrs[i])
		if err != nil {
			return nil, err
		}
		p.Env = append(p.Env, "QUARKUS_"+of+"_HOST="+host, "QUARKUS_"+of+"_PORT="+port)
	}
	r := &Registry{server{dir, p}, "http://" + addrs[0] + "/apis/ccompat/v7"}
	if err := r.Restart(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the registry: %w", err), r.Close())
	}
	return r, nil
}

// URL is where the registry has the API of Confluent's.
func (r *Registry) URL() string { return r.url }

// Restart starts a registry that crashed, at the same address, and waits until it answers. It has
// the schemas that it had.
func (r *Registry) Restart(ctx context.Context) error {
	return r.begin(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/subjects", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		if err == nil && response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
		return err
	})
}

// fetchTar fetches an archive, and leaves in a folder what is in it.
func fetchTar(ctx context.Context, dir string, a maven.Archive) error {
	if err := maven.Fetch(ctx, dir, a); err != nil {
		return err
	}
	file := filepath.Join(dir, path.Base(a.Path))
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	for r := tar.NewReader(text); ; {
		h, err := r.Next()
		if err == io.EOF {
			return os.Remove(file)
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = unpack(dir, h.Name, r)
		}
		if err != nil {
			return err
		}
	}
}
