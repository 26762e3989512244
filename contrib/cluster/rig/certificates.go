package rig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// makeCertificates makes an authority, and one certificate for all servers of this machine. The
// files are ca.pem, cert.pem and key.pem.
func makeCertificates(dir string) error {
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster on one machine"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "nats"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	for _, c := range []*x509.Certificate{ca, leaf} {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	}
	caRaw, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return err
	}
	leafRaw, err := x509.CreateCertificate(rand.Reader, leaf, ca, &leafKey.PublicKey, caKey)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		return err
	}
	write := func(name, kind string, der []byte) error {
		block := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		return os.WriteFile(filepath.Join(dir, name), block, 0o600)
	}
	return errors.Join(
		write("ca.pem", "CERTIFICATE", caRaw),
		write("cert.pem", "CERTIFICATE", leafRaw),
		write("key.pem", "PRIVATE KEY", key),
	)
}
