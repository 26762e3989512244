package handshake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"
)

// Closed is the error of a door that did not open, in words for users. The cause is Go's error.
type Closed struct {
	Say, Do string
	cause   error
}

func (c *Closed) Error() string { return c.Say }

// Hint returns the next step.
func (c *Closed) Hint() string { return c.Do }

func (c *Closed) Unwrap() error { return c.cause }

// Worded rewrites an error of a connection for users, unless that was done already.
func Worded(err error) error {
	if message, do := certificateProblem(err); message != "" {
		return &Closed{Say: message, Do: do, cause: err}
	}
	noName, isNoName := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	_, isPlain := errors.AsType[tls.RecordHeaderError](err)
	c := &Closed{cause: err}
	switch {
	case isPlain:
		c.Say = "the server there does not speak TLS"
		c.Do = "correct the address: a gateway with a certificate is wss://, and one of " +
			"this machine " +
			"without is ws://"
	case isNoName && noName.IsNotFound:
		c.Say, c.Do = "no machine is called "+noName.Name, "correct the address in --gateway"
	case isNoName:
		c.Say = "the name " + noName.Name + " cannot be looked up now"
		c.Do = "check this machine's DNS"
	case !isOp || op.Op != "dial" || op.Net == "unix":
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		c.Say = "nothing listens there"
		c.Do = "check that gateway serve runs there, and correct the port in --gateway"
	case op.Timeout(), errors.Is(err, context.DeadlineExceeded):
		c.Say = "that machine does not answer"
		c.Do = "check that it runs, and that no firewall keeps you from the port"
	default:
		errno, isErrno := errors.AsType[syscall.Errno](err)
		if !isErrno {
			return err
		}
		c.Say = "it cannot be reached: " + errno.Error()
		c.Do = "check the network between the two machines"
	}
	return c
}

// certificateProblem explains why a gateway's certificate fails; message is "" if err has another
// cause.
func certificateProblem(err error) (message, do string) {
	unknown, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	misnamed, isMisnamed := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isUnknown:
		message = "this machine does not know the authority that signed its certificate"
		if unknown.Cert != nil {
			message += " (" + unknown.Cert.Issuer.String() + ")"
		}
		return message, "if the authority is your own, name the file of its certificate: " +
			"SSL_CERT_FILE=ca.pem; else do not use that gateway"
	case isMisnamed:
		names := append([]string{}, misnamed.Certificate.DNSNames...)
		for _, ip := range misnamed.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		return "its certificate is for " + strings.Join(names, ", ") + " and not for " +
			misnamed.Host, "name the gateway as its certificate does"
	case isInvalid && invalid.Reason == x509.Expired:
		const format = "2006-01-02"
		return "its certificate is valid from " + invalid.Cert.NotBefore.Format(format) + " to " +
				invalid.Cert.NotAfter.Format(format) + " only",
			"renew it there and restart that gateway, or set this machine's clock"
	case isInvalid:
		return "its certificate cannot be used: " + invalid.Error(), "have its operator replace it"
	}
	return "", ""
}
