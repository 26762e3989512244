// Package corpus reads test data: tables of sequences with their results, and scripts of steps with
// the state after each step. Only tests import it. It must not depend on the subject of the data.
//
// A row of a table is a line. Tabs separate its fields; several tabs count as one. A field is text
// with the escapes of Go (\x1b, \n, \u202e), and {20×ab} repeats ab twenty times. "" is an empty
// field, and trailing fields may be left out. Lines that begin with # are comments.
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

// Rows returns the rows of testdata/name.tsv. T is a struct whose exported fields take the fields
// of a row in their order. They are strings, integers, durations (1m30s) or booleans (yes, no).
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
			require.NoError(t, setField(into.Field(i), field), "%s:%d: %s", name, n+1, field)
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows, name)
	return rows
}

var repetition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\{(\d+)×(.*?)\}`)
})

// setField parses the text of a table's field into a struct's field.
func setField(field reflect.Value, value string) error {
	if value == `""` {
		return nil
	}
	switch field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(value)
		field.SetInt(int64(d))
		return err
	case bool:
		field.SetBool(value == "yes")
		if value != "yes" && value != "no" {
			return strconv.ErrSyntax
		}
		return nil
	case int:
		n, err := strconv.Atoi(value)
		field.SetInt(int64(n))
		return err
	}
	s, err := unescape(value)
	field.SetString(s)
	return err
}

// unescape undoes the escapes and repetitions of a field.
func unescape(field string) (string, error) {
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(field, `"`, `\"`) + `"`)
	return repetition().ReplaceAllStringFunc(s, func(s string) string {
		part := repetition().FindStringSubmatch(s)
		n, _ := strconv.Atoi(part[1])
		return strings.Repeat(part[2], n)
	}), err
}
