package joined

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
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"terminalproxy/gateway/cluster"
)

// certified makes an authority's certificate, in a file, and a server's certificate for a name.
func certified(t *testing.T, name string, until time.Time) (ca string, pair tls.Certificate) {
	t.Helper()
	make := func(c, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if parentKey == nil {
			parentKey = own
		}
		raw, err := x509.CreateCertificate(rand.Reader, c, parent, &own.PublicKey, parentKey)
		if err != nil {
			t.Fatal(err)
		}
		return raw, own
	}
	since := time.Now().Add(-48 * time.Hour)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: since, NotAfter: time.Now().Add(time.Hour),
	}
	raw, authorityKey := make(authority, authority, nil)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: since, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, leafKey := make(leaf, authority, authorityKey)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return ca, tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: leafKey}
}

// TestAClustersFaultIsNamed: each mistake that an operator makes, with a real server.
func TestAClustersFaultIsNamed(t *testing.T) {
	seed, public := key(t)
	stranger, _ := key(t)
	tomorrow := time.Now().Add(24 * time.Hour)
	ca, good := certified(t, "localhost", tomorrow)
	otherCA, _ := certified(t, "localhost", tomorrow)
	renamedCA, renamed := certified(t, "b.example.org", tomorrow)
	expiredCA, expired := certified(t, "localhost", time.Now().Add(-24*time.Hour))
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	type settings = server.Options
	secure := func(c tls.Certificate) func(*settings) {
		return func(o *settings) {
			o.TLS, o.TLSTimeout = true, 5
			o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS13}
		}
	}
	may := func(publish, subscribe []string) func(*settings) {
		return func(o *settings) {
			o.Nkeys = []*server.NkeyUser{{Nkey: public, Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: publish}, Subscribe: &server.SubjectPermission{Allow: subscribe},
			}}}
		}
	}
	all := []string{">"}
	for name, c := range map[string]struct {
		change              func(*settings)
		scheme, creds, ca   string
		at                  net.Listener // in place of the server
		say, do             string
		final, nothingWrong bool
	}{
		"all is well":           {nothingWrong: true},
		"all is well, with TLS": {change: secure(good), scheme: "tls", ca: ca, nothingWrong: true},
		"another's authority":   {change: secure(good), scheme: "tls", ca: otherCA, say: "is not signed by an authority of --cluster-tls-ca " + otherCA, do: "openssl verify", final: true},
		"no authority":          {change: secure(good), scheme: "tls", say: "does not know the authority that signed its certificate (CN=test)", do: "--cluster-tls-ca ca.pem", final: true},
		"another name":          {change: secure(renamed), scheme: "tls", ca: renamedCA, say: "is for b.example.org and not for localhost", do: "subjectAltName", final: true},
		"expired":               {change: secure(expired), scheme: "tls", ca: expiredCA, say: "its certificate is valid from", do: "clock", final: true},
		"plain, TLS is asked":   {scheme: "tls", say: "it does not speak TLS", do: "tls block", final: true},
		"a client certificate": {change: func(o *settings) {
			secure(good)(o)
			o.TLSConfig.ClientAuth = tls.RequireAnyClientCert
		}, scheme: "tls", ca: ca, say: "it requires a certificate from its clients", do: "verify", final: true},
		"a stranger's key":  {creds: stranger, say: "it does not know this gateway's key U", do: "users", final: true},
		"nobody listens":    {at: gone, say: "nothing listens at localhost:", do: "4222"},
		"it is no server":   {at: mute, say: "does not answer clients like a NATS server", do: "4222"},
		"may not subscribe": {change: may(all, []string{"_INBOX.>"}), say: `this gateway's user lacks a permission: Subscription to "tp1.hb"`, do: "contrib/cluster/nats.conf"},
		"may not publish":   {change: may([]string{"$JS.>", "$KV.>"}, all), say: `Publish to "tp1.gw.check"`, do: "contrib/cluster/nats.conf"},
		"may not ask":       {change: may([]string{"tp1.>", "$KV.>"}, all), say: `Publish to "$JS.API.STREAM.INFO.KV_tp1_sessions"`, do: "contrib/cluster/nats.conf"},
		"JetStream is off":  {change: func(o *settings) { o.JetStream = false }, say: "JetStream", do: "jetstream block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &natsServer{t: t, options: server.Options{
				Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, Nkeys: []*server.NkeyUser{{Nkey: public}},
			}}
			if c.change != nil {
				c.change(&n.options)
			}
			n.start()
			t.Cleanup(n.stop)
			at, scheme, creds := n.running.Addr(), "nats", seed
			if c.at != nil {
				at = c.at.Addr()
			}
			if c.scheme != "" {
				scheme = c.scheme
			}
			if c.creds != "" {
				creds = c.creds
			}
			_, port, _ := net.SplitHostPort(at.String())
			url := scheme + "://localhost:" + port
			found, err := cluster.CheckServers(t.Context(), cluster.Config{Servers: []string{url}, Credentials: creds, CA: c.ca})
			switch {
			case err != nil:
				t.Fatal(err)
			case c.nothingWrong && len(found) > 0:
				t.Fatalf("%v (%v)", found[0], found[0].Unwrap())
			case c.nothingWrong:
				return
			case len(found) != 1:
				t.Fatal("nothing is wrong")
			}
			got := found[0]
			if c.scheme == "tls" && got.Say == "it ended the connection" && name == "a client certificate" {
				return // whose alert was lost with it
			}
			if !strings.Contains(got.Say, c.say) || !strings.Contains(got.Do, c.do) || got.Final != c.final || got.Server != url {
				t.Errorf("%+v", got)
			}
		})
	}
}
