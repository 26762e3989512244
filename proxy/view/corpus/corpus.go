// Package corpus reads what tests keep in testdata: tables of sequences with what comes of them, and plays of what happens step by
// step. Only tests import it. It must not know what they are about.
//
// A row of a table is a line, and its fields stand apart by tabs, as many as look good. A field is text with the escapes of Go (\x1b, \n,
// \u202e), and {20×ab} is twenty times ab; "" is an empty one, and fields at the end may be left out. Lines that begin with # say
// something about those below.
package corpus

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rows are the rows of testdata/name.tsv, each in a T: a struct whose exported fields take the fields of a row in their order. They
// are strings, integers, durations (1m30s) or booleans (yes, no).
func Rows[T any](t testing.TB, name string) (rows []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".tsv"))
	require.NoError(t, err)
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var row T
		into := reflect.ValueOf(&row).Elem()
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' })
		require.LessOrEqual(t, len(fields), into.NumField(), "%s:%d", name, n+1)
		for i, field := range fields {
			require.NoError(t, set(into.Field(i), field), "%s:%d: %s", name, n+1, field)
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows, name)
	return rows
}

var times = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\{(\d+)×(.*?)\}`) })

// set gives a struct's field what a field of the table says.
func set(field reflect.Value, says string) error {
	if says == `""` {
		return nil
	}
	switch field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(says)
		field.SetInt(int64(d))
		return err
	case bool:
		field.SetBool(says == "yes")
		if says != "yes" && says != "no" {
			return strconv.ErrSyntax
		}
		return nil
	case int:
		n, err := strconv.Atoi(says)
		field.SetInt(int64(n))
		return err
	}
	is, err := text(says)
	field.SetString(is)
	return err
}

// text undoes the escapes and repetitions of a field.
func text(says string) (string, error) {
	is, err := strconv.Unquote(`"` + strings.ReplaceAll(says, `"`, `\"`) + `"`)
	return times().ReplaceAllStringFunc(is, func(s string) string {
		part := times().FindStringSubmatch(s)
		n, _ := strconv.Atoi(part[1])
		return strings.Repeat(part[2], n)
	}), err
}
