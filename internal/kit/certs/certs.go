// Package certs makes certificates for servers and clients of tests.
//
// It must not import any other package of this module.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	File string // its own certificate

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair is a certificate with its key.
type Pair struct {
	CertFile, KeyFile string

	TLS tls.Certificate
}

// New makes an authority. Its files exist until the test ends.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t), cert: template("authority")}
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	a.File = filepath.Join(t.TempDir(), "ca.pem")
	write(t, a.File, "CERTIFICATE", a.sign(t, a.cert, a.key))
	return a
}

// Issue makes a certificate for a server at 127.0.0.1 and a client called name.
func (a *Authority) Issue(t testing.TB, name string) Pair {
	t.Helper()
	key, cert, dir := newKey(t), template(name), t.TempDir()
	cert.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	p := Pair{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	write(t, p.CertFile, "CERTIFICATE", a.sign(t, cert, key))
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.KeyFile, "PRIVATE KEY", secret)
	if p.TLS, err = tls.LoadX509KeyPair(p.CertFile, p.KeyFile); err != nil {
		t.Fatal(err)
	}
	return p
}

// Pool holds the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// sign returns a certificate, and takes it for the authority's own if that has none yet.
func (a *Authority) sign(t testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err == nil && cert == a.cert {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func write(t testing.TB, path, kind string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
}
