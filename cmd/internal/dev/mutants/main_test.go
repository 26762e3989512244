package main

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestEveryPatchApplies: who changes or moves lines that a patch breaks takes the patch along.
func TestEveryPatchApplies(t *testing.T) {
	all, err := loadMutants(os.DirFS("../../../.."), nil)
	require.NoError(t, err)
	require.NotEmpty(t, all)
}

func TestAPatchIsOfOnePlace(t *testing.T) {
	const patch = "It is broken.\n--- a/p/x.go\n+++ b/p/x.go\n@@ -1,2 +1,2 @@ func f() {\n \ta\n-\tb\n+\tc\n"
	for name, c := range map[string]struct{ patch, text, want, err string }{
		"applies":         {patch, "x\n\ta\n\tb\ny\n", "x\n\ta\n\tc\ny\n", ""},
		"at the first":    {patch, "\ta\n\tb\n", "\ta\n\tc\n", ""},
		"nowhere":         {patch, "\ta\n\tbb\n", "", "at 0 places in p"},
		"not a line":      {patch, "x\ta\n\tb\n", "", "at 0 places in p"},
		"twice":           {patch, "\ta\n\tb\n\ta\n\tb\n", "", "at 2 places in p"},
		"without a word":  {patch[len("It is broken.\n"):], "\ta\n\tb\n", "", "want a sentence that says what breaks, and then a patch of one file"},
		"without a patch": {"It is broken.\n", "\ta\n\tb\n", "", "a patch of one file"},
		"two hunks":       {patch + "@@ -9 +9 @@\n-\td\n+\te\n", "\ta\n\tb\n\td\n", "\ta\n\tc\n\te\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			// The file has another name than in the patch, and its test holds the same lines.
			all, err := loadMutants(fstest.MapFS{
				"p/y.go": {Data: []byte(c.text)}, "p/y_test.go": {Data: []byte(c.text)},
				patches + "/one.patch": {Data: []byte(c.patch)},
			}, []string{"on"})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, c.want, string(all[0].files["p/y.go"]))
			require.Equal(t, []string{"one", "It is broken.", "p"}, []string{all[0].name, all[0].breaks, all[0].dir})
		})
	}
}
