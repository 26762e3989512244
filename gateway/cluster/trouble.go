package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// Trouble explains to operators why a server of --cluster cannot be used, or only partly.
type Trouble struct {
	// Server is the server's URL.
	Server string
	// Say describes the problem, and Do the next step.
	Say, Do string
	// Final is set if trying again cannot help.
	Final bool
	cause error
}

func (t *Trouble) Error() string { return t.Server + ": " + t.Say }

// Hint returns the next step.
func (t *Trouble) Hint() string { return t.Do }

func (t *Trouble) Unwrap() error { return t.cause }

// Troubles are those of several servers; a problem that several share is named once.
type Troubles []*Trouble

func (all Troubles) Error() string {
	var problems []string
	servers := make(map[string][]string)
	for _, t := range all {
		if servers[t.Say] == nil {
			problems = append(problems, t.Say)
		}
		servers[t.Say] = append(servers[t.Say], t.Server)
	}
	for i, problem := range problems {
		problems[i] = strings.Join(servers[problem], ", ") + ": " + problem
	}
	return strings.Join(problems, "; ")
}

// Hint returns the next steps.
func (all Troubles) Hint() string {
	var do []string
	for _, t := range all {
		if !slices.Contains(do, t.Do) {
			do = append(do, t.Do)
		}
	}
	return strings.Join(do, "; ")
}

// explainTrouble explains why a server cannot be used.
func (c Config) explainTrouble(server string, err error) *Trouble {
	t, told := errors.AsType[*Trouble](err)
	if told {
		return t
	}
	t = &Trouble{Server: server, cause: err}
	explanations := []func(*Trouble, Config) bool{
		explainCertificate, explainTLS, explainAdmission, explainConnection, explainPermissions,
	}
	for _, explain := range explanations {
		if explain(t, c) {
			return t
		}
	}
	t.Say, t.Do = strings.TrimPrefix(err.Error(), "nats: "), "read the log of that server"
	return t
}

// explainCertificate explains a problem with a certificate.
func explainCertificate(t *Trouble, c Config) bool {
	unknown, isUnknown := errors.AsType[x509.UnknownAuthorityError](t.cause)
	misnamed, isMisnamed := errors.AsType[x509.HostnameError](t.cause)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](t.cause)
	switch {
	case isUnknown && c.CA == "":
		t.Say = "this system does not know the authority that signed its certificate"
		t.Do = "name the file with the authority's certificate: --cluster-tls-ca ca.pem"
		if unknown.Cert != nil {
			t.Say += " (" + unknown.Cert.Issuer.String() + ")"
		}
	case isUnknown:
		t.Say = "its certificate is not signed by an authority of --cluster-tls-ca " + c.CA
		t.Do = "take the file of the authority that signed the server's cert_file: openssl " +
			"verify -CAfile " + c.CA + " cert.pem"
	case isMisnamed:
		names := append([]string{}, misnamed.Certificate.DNSNames...)
		for _, ip := range misnamed.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		t.Say = "its certificate is for " + strings.Join(names, ", ") + " and not for " + misnamed.Host
		t.Do = "name the server in --cluster as its certificate does, or add the name to the " +
			"certificate (subjectAltName)"
	case isInvalid && invalid.Reason == x509.Expired:
		t.Say = "its certificate is valid from " +
			day(invalid.Cert.NotBefore) + " to " + day(invalid.Cert.NotAfter) + ", and here it is " + day(time.Now())
		t.Do = "replace the server's cert_file and reload it (nats-server --signal reload); or " +
			"set this machine's clock"
	case isInvalid:
		t.Say = "its certificate cannot be used: " + invalid.Error()
		t.Do = "create it as docs/cluster.md describes"
	default:
		return false
	}
	t.Final = true
	return true
}

func day(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// explainTLS explains a problem with TLS.
func explainTLS(t *Trouble, _ Config) bool {
	_, isPlain := errors.AsType[tls.RecordHeaderError](t.cause)
	switch text := t.cause.Error(); {
	case errors.Is(t.cause, nats.ErrSecureConnWanted), isPlain:
		t.Say = "it does not speak TLS, which tls:// and --cluster-tls-ca ask for"
		t.Do = "give its settings a tls block; or name it as nats:// without --cluster-tls-ca, " +
			"in a network that no one else can read"
	case errors.Is(t.cause, nats.ErrSecureConnRequired):
		t.Say, t.Do = "it requires TLS", "name it as tls://"
	case strings.Contains(text, "certificate required"), strings.Contains(text, "bad certificate"):
		t.Say = "it requires a certificate from its clients"
		t.Do = "take verify out of the tls block for clients in its settings: gateways prove " +
			"themselves by --cluster-creds"
	case errors.Is(t.cause, io.EOF), errors.Is(t.cause, syscall.ECONNRESET), errors.Is(t.cause, syscall.EPIPE):
		// the alert may be lost with it
		t.Say = "it ended the connection"
		t.Do = "read the log of that server: it may require a certificate from its clients (verify), " +
			"or be stopping"
		return true
	case errors.Is(t.cause, nats.ErrTLS), strings.Contains(text, "tls:"):
		why := text
		if _, after, found := strings.Cut(text, "tls: "); found {
			why = after
		}
		t.Say = "TLS fails: " + strings.TrimPrefix(why, "nats: ")
		t.Do = "read the log of that server"
	default:
		return false
	}
	t.Final = true
	return true
}

// explainAdmission explains why a server does not admit a gateway.
func explainAdmission(t *Trouble, c Config) bool {
	switch {
	case errors.Is(t.cause, nats.ErrAuthExpired), errors.Is(t.cause, nats.ErrAuthRevoked), errors.Is(t.cause, nats.ErrAccountAuthExpired):
		t.Say = "the credentials of --cluster-creds " + c.Credentials + " have expired or were revoked"
		t.Do = "create new ones for this gateway"
	case errors.Is(t.cause, nats.ErrAuthorization) && c.Credentials == "":
		t.Say = "it requires credentials"
		t.Do = "name the file with this gateway's seed: --cluster-creds a.nk"
	case errors.Is(t.cause, nats.ErrAuthorization):
		t.Say = "it does not know the key of --cluster-creds " + c.Credentials
		t.Do = "add its public half to users in the settings of every server, and reload them: " +
			"nk -inkey " + c.Credentials + " -pubout"
		if public := publicKey(c.Credentials); public != "" {
			t.Say = "it does not know this gateway's key " +
				public + " (--cluster-creds " + c.Credentials + ")"
			t.Do = "add that key to users in the settings of every server, and reload them: " +
				"nats-server --signal reload"
		}
	case errors.Is(t.cause, nats.ErrMaxConnectionsExceeded), errors.Is(t.cause, nats.ErrMaxAccountConnectionsExceeded):
		t.Say, t.Do = "it accepts no further connections", "raise max_connections in its settings"
		return true
	default:
		return false
	}
	t.Final = true
	return true
}

// explainConnection explains why a server cannot be reached.
func explainConnection(t *Trouble, _ Config) bool {
	at := hostPort(t.Server)
	noName, isNoName := errors.AsType[*net.DNSError](t.cause)
	op, isOp := errors.AsType[*net.OpError](t.cause)
	const ports = "4222 is the usual port of NATS' clients, 6222 that of its routes"
	switch {
	case isNoName && noName.IsNotFound:
		t.Say = "no machine has the name " + noName.Name
		t.Do = "correct the name in --cluster, or enter it into DNS or /etc/hosts"
	case isNoName:
		t.Say = "the name " + noName.Name + " cannot be looked up now: DNS does not answer"
		t.Do = "check this machine's DNS, or enter the name into /etc/hosts"
	case errors.Is(t.cause, nats.ErrNoServers), errors.Is(t.cause, syscall.ECONNREFUSED):
		t.Say = "nothing listens at " + at
		t.Do = "start nats-server there, or correct the port: " + ports
	case isOp && op.Op == "dial" && op.Timeout(), isOp && op.Op == "dial" && errors.Is(t.cause, context.DeadlineExceeded):
		t.Say = at + " does not answer"
		t.Do = "check that that machine runs, and that no firewall keeps this one from the port"
	case isOp && op.Op == "dial":
		t.Say = at + " cannot be reached: " + systemError(op.Err)
		t.Do = "check the network between the two machines"
	case isOp && op.Timeout(), errors.Is(t.cause, nats.ErrTimeout), errors.Is(t.cause, nats.ErrNoInfoReceived), strings.Contains(t.cause.Error(), "expected 'INFO'"):
		t.Say = "the server at " + at + " does not answer clients like a NATS server"
		t.Do = "correct the port: " + ports
	default:
		return false
	}
	return true
}

// explainPermissions explains a problem with permissions or the bucket.
func explainPermissions(t *Trouble, _ Config) bool {
	const permissions = "give this gateway's user the permissions in contrib/cluster/nats.conf, " +
		"and reload the servers"
	switch {
	case errors.Is(t.cause, nats.ErrPermissionViolation):
		_, violation, _ := strings.Cut(t.cause.Error(), "violation: ")
		t.Say = "this gateway's user lacks a permission: " +
			strings.TrimPrefix(violation, "Permissions Violation for ")
		t.Do = permissions
	case errors.Is(t.cause, errNoJetStream), isRefusedWith(t.cause, codeDisabled, codeDisabledHere):
		t.Say = "JetStream, which keeps the list of sessions, is off or has no majority of its " +
			"servers"
		t.Do = "give the settings of every server a jetstream block, and start the missing " +
			"servers: more than half are needed"
	case isRefusedWith(t.cause, codeNoQuorum):
		t.Say = "JetStream has no majority of its servers"
		t.Do = "start the missing servers: more than half are needed"
	default:
		return false
	}
	return true
}

// hostPort returns the address at which a server listens.
func hostPort(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), fmt.Sprint(nats.DefaultPort))
	}
	return u.Host
}

// systemError returns the system's own text for an error.
func systemError(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
