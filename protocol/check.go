package protocol

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// checks keeps the first complaint about a message; later ones are dropped.
type checks struct{ err *FieldError }

func (c *checks) fail(code Code, field, format string, args ...any) {
	if c.err == nil {
		c.err = &FieldError{Code: code, Field: field, Say: fmt.Sprintf(format, args...)}
	}
}

// done returns the first complaint as an error, or nil.
func (c *checks) done() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

func (c *checks) id(field, value string) *checks {
	switch {
	case value == "":
		c.fail(CodeBadMessage, field, "is missing")
	case !ValidID(value):
		c.fail(CodeBadMessage, field, "must be 1 to %d characters of A-Z a-z 0-9 . _ : -", MaxID)
	}
	return c
}

func (c *checks) optionalID(field, value string) *checks {
	if value != "" {
		c.id(field, value)
	}
	return c
}

// text checks a string to be shown or stored: its length in bytes and its encoding.
func (c *checks) text(field, value string, limit int) *checks {
	switch {
	case len(value) > limit:
		c.fail(CodeTooLarge, field, "is %d bytes long, the limit is %d", len(value), limit)
	case !utf8.ValidString(value):
		c.fail(CodeBadMessage, field, "is not UTF-8")
	}
	return c
}

func (c *checks) required(field, value string, limit int) *checks {
	if value == "" {
		c.fail(CodeBadMessage, field, "is missing")
	}
	return c.text(field, value, limit)
}

func (c *checks) between(field string, value, low, high int) *checks {
	if value < low || value > high {
		c.fail(CodeBadMessage, field, "is %d, must be %d to %d", value, low, high)
	}
	return c
}

// upTo checks a number of seconds or milliseconds.
func (c *checks) upTo(field string, value, high int64) *checks {
	if value < 0 || value > high {
		c.fail(CodeBadMessage, field, "is %d, must be 0 to %d", value, high)
	}
	return c
}

func (c *checks) oneOf(field, value string, allowed ...string) *checks {
	if slices.Contains(allowed, value) {
		return c
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == "" })
	c.fail(CodeBadMessage, field, "is %.64q, must be one of: %s", value, strings.Join(named, ", "))
	return c
}
