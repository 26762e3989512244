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

// DialError explains to users why a gateway cannot be reached. It wraps Go's error.
type DialError struct {
	Message, NextStep string
	cause             error
}

func (c *DialError) Error() string { return c.Message }

// Hint returns what the user can do.
func (c *DialError) Hint() string { return c.NextStep }

func (c *DialError) Unwrap() error { return c.cause }

// ExplainError returns a DialError for the errors of a connection that it can explain to users, and
// any other error as is.
func ExplainError(err error) error {
	if message, do := certificateProblem(err); message != "" {
		return &DialError{Message: message, NextStep: do, cause: err}
	}
	noName, isNoName := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	_, isPlain := errors.AsType[tls.RecordHeaderError](err)
	c := &DialError{cause: err}
	switch {
	case isPlain:
		c.Message = "the server there does not speak TLS"
		c.NextStep = "correct the address: a gateway with a certificate is wss://, and one of " +
			"this machine " +
			"without is ws://"
	case isNoName && noName.IsNotFound:
		c.Message, c.NextStep = "no machine is called "+noName.Name, "correct the address in --gateway"
	case isNoName:
		c.Message = "the name " + noName.Name + " cannot be looked up now"
		c.NextStep = "check this machine's DNS"
	case !isOp || op.Op != "dial" || op.Net == "unix":
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		c.Message = "nothing listens there"
		c.NextStep = "check that gateway serve runs there, and correct the port in --gateway"
	case op.Timeout(), errors.Is(err, context.DeadlineExceeded):
		c.Message = "that machine does not answer"
		c.NextStep = "check that it runs, and that no firewall keeps you from the port"
	default:
		errno, isErrno := errors.AsType[syscall.Errno](err)
		if !isErrno {
			return err
		}
		c.Message = "it cannot be reached: " + errno.Error()
		c.NextStep = "check the network between the two machines"
	}
	return c
}

// certificateProblem explains why a gateway's certificate is invalid and what to do; message is ""
// if err has another cause.
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
