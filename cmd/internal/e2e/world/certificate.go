package world

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
	"time"

	"github.com/stretchr/testify/require"
)

// Certified makes an authority, and this machine's certificate, which everything in this world
// trusts from now on. It returns the server's flags for it.
func (w *World) Certified() (flags []string) {
	w.T.Helper()
	signed := func(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(w.T, err)
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		if parent == nil {
			parent, by = template, key
		}
		raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
		require.NoError(w.T, err)
		made, err := x509.ParseCertificate(raw)
		require.NoError(w.T, err)
		return made, key
	}
	ca, by := signed(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leaf, key := signed(&x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, ca, by)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(w.T, err)
	file := func(name, kind string, der []byte) string {
		return w.Write(name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	flags = []string{"--tls-cert", file("cert.pem", "CERTIFICATE", leaf.Raw), "--tls-key", file("key.pem", "PRIVATE KEY", raw)}
	w.Env = append(w.Env, "SSL_CERT_FILE="+file("ca.pem", "CERTIFICATE", ca.Raw))
	w.Cert = &tls.Certificate{Certificate: [][]byte{leaf.Raw, ca.Raw}, PrivateKey: key, Leaf: leaf}
	return flags
}
