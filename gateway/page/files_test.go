package page

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScriptsAreServedWithoutComments(t *testing.T) {
	for script, want := range map[string]string{
		"// a\nb();\n":     "\nb();\n",
		"/** a */\nb();\n": "\nb();\n",
		"  /**\n   * a **\n   * @param {B} b\n   */\n  c(b)": "\n\n\n\n  c(b)",
		"a(); // b\n":                                 "a(); // b\n",
		"/** @type {A} */ (b).c(); /** d */\n":        "/** @type {A} */ (b).c(); /** d */\n",
		"  const a = /** @type {B} */ (\n    c\n  );": "  const a = /** @type {B} */ (\n    c\n  );",
		"/** a */ b(); // c */\n/** d */\n":           "/** a */ b(); // c */\n\n",
		"x = '/** a */';\ny = /\\/\\*/;\n":            "x = '/** a */';\ny = /\\/\\*/;\n",
	} {
		require.Equal(t, want, string(stripComments([]byte(script))))
	}
	f, err := readFiles()
	require.NoError(t, err)
	for name, served := range f.others {
		if path.Ext(name) != ".js" {
			continue
		}
		require.NotContains(t, string(served.plain), "@param", name)
		source, err := static.ReadFile("static/" + name)
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(source), "\n"), strings.Count(string(served.plain), "\n"), name)
	}
}
