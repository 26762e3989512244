package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// userFile makes text the user's configuration.
func userFile(t *testing.T, text string) (path string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("PROXY_GATEWAY", "")
	t.Setenv("PROXY_TOKEN_FILE", "")
	path, err := Path()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "terminalproxy", "config.toml"), path)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestEverySettingHasItsLine(t *testing.T) {
	f, err := parse("x", []byte("# first\na = 1\n\n[proxy]\nyield = '2s' # comment\nnotify = [\n 'off',\n]\nb.c = 3\n[gateway.token.create]\nrole = 'agent'\n"))
	require.NoError(t, err)
	for table, want := range map[string]map[string]int{
		"": {"a": 2}, "proxy": {"yield": 5, "notify": 6}, "proxy.b": {"c": 9}, "gateway.token.create": {"role": 11},
	} {
		for key, line := range want {
			value, at, ok := f.Table(table).Value(key)
			require.True(t, ok, key)
			require.NotNil(t, value)
			require.Equal(t, line, at, key)
		}
	}
	require.Equal(t, 10, f.Table("gateway").FirstLine(), "a table that stands nowhere begins with what is in it")
	require.Nil(t, f.Table("none.at.all"))
	require.Nil(t, (*File)(nil).Table("proxy"))
	require.NoError(t, f.Table("none").RefuseUnknownTables())
}

func TestWhatIsWrongSaysItsLineAndTheNearestName(t *testing.T) {
	for text, want := range map[string][2]string{
		"[proxi]\n":                          {":1: unknown table \"proxi\"", "did you mean: proxy"},
		"\n[qqqqqq.a]\n":                     {":2: unknown table \"qqqqqq\"", "the tables are: proxy, gateway, look, redact"},
		"yield = '1s'\n":                     {":1: yield: must be in a table", "the tables are: [proxy], "},
		"[[proxy]]\n":                        {":1: [[proxy]]: must be in single brackets: there is only one", "write [proxy]"},
		"[[alow]]\n":                         {":1: unknown table \"alow\"", "did you mean: allow"},
		"[nevr]\n":                           {":1: unknown table \"nevr\"", "did you mean: never"},
		"[look]\n\ncolours = 'none'\n":       {":3: unknown setting \"colours\"", "did you mean: colors"},
		"[look]\ncolors = 'some'\n":          {":2: colors: must be \"auto\", \"16\" or \"none\"", ""},
		"[look]\ntext = 3\n":                 {":2: text: must be a number from 16 to 255", ""},
		"[look]\ntext = '16'\n":              {":2: text: must be a number from 16 to 255", ""},
		"[look]\nbackground = 17\n":          {":2: background: the contrast of 16 on 17 is 1.2, must be at least 7", "try background = 214"},
		"[look]\nquestion = 'off'\n":         {":2: question: must be \"bottom\" or \"top\"", ""},
		"[look]\nsign = true\n":              {":2: sign: must be \"bottom\", \"top\" or \"off\"", ""},
		"[look.x]\ny = 1\n":                  {":1: unknown setting \"x\"", ""},
		"[redact]\nadd = 'x'\n":              {":2: add: must be a list of texts", ""},
		"[redact]\nadd = ['x']\nallow=['(']": {":3: allow: \"(\": error parsing", ""},
		"[redact]\nadd = ['x', 'y*']\n":      {":2: add: \"y*\": matches the empty text", ""},
		"[redact]\nadd = ['" + strings.Repeat("x", 1001) + "']\n":  {"has 1001 bytes, the limit is 1000", ""},
		"[redact]\nadd = [" + strings.Repeat("'x',\n", 33) + "]\n": {":2: add: has 33 expressions, the limit is 32", ""},
		"[proxy]\nyield = '1s'\nyield = '2s'\n":                    {":3: ", ""},
		"[proxy]\nyield = 1s\n":                                    {":2: ", ""},
		"[proxy]\nx = '" + strings.Repeat("x", maxLine) + "'":      {":2: too long: a line may have 4096 bytes", ""},
		"[proxy]\n" + strings.Repeat("x", 100) + "='\x00'":         {":2: ", ""},
		strings.Join(numbered("k", "=1\n", maxKeys+1), ""):         {": too long: it has 1001 keys, the limit is 1000", ""},
		"\n" + strings.Repeat("a.", 33) + "b = 1":                  {":2: too deep: a line may have 32 dots and braces outside of texts", ""},
		"[" + strings.Repeat("'a'.", 33) + "b]":                    {":1: too deep", ""},
		"x = " + strings.Repeat("{a=", 33):                         {":1: too deep", ""},
		"x = {a = '''\n''', " + strings.Repeat("b.", 33) + "c=1}":  {":2: too deep", ""},
	} {
		path := userFile(t, text)
		f, err := User()
		if err == nil {
			_, err = f.Taste()
		}
		wrong, ok := errors.AsType[*Error](err)
		require.True(t, ok, "%.60q: %v", text, err)
		require.Contains(t, wrong.Error(), path+":", text)
		require.Contains(t, wrong.Error(), want[0], text)
		require.Contains(t, wrong.Hint, want[1], text)
	}
}

// A text may have any number of dots.
func TestTextsAreNotDeep(t *testing.T) {
	for _, line := range []string{"a = '" + strings.Repeat(".", 99) + "'", `a = "\"` + strings.Repeat(".", 99) + `" # ` + strings.Repeat(".", 99)} {
		_, err := parse("x", []byte(line))
		require.NoError(t, err, line)
	}
}

func numbered(name, rest string, n int) (all []string) {
	for i := range n {
		all = append(all, name+strings.Repeat("x", i%100)+string(rune('a'+i/100))+rest)
	}
	return all
}

// What is no file of the user's alone is refused by name, and never waited for.
func TestOnlyTheUsersOwnFileIsRead(t *testing.T) {
	path := userFile(t, "[proxy]\n")
	refused := func(want string) {
		t.Helper()
		ended := make(chan error, 1)
		go func() { _, err := User(); ended <- err }()
		select {
		case err := <-ended:
			require.ErrorContains(t, err, path+": ")
			require.ErrorContains(t, err, want)
		case <-time.After(time.Minute):
			require.FailNow(t, "it hangs")
		}
	}
	f, err := User()
	require.NoError(t, err)
	require.NotNil(t, f)
	require.NoError(t, os.Chmod(path, 0o620))
	refused("has mode 0620, so other users can change it")
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.Rename(path, other))
	require.NoError(t, os.Symlink(other, path))
	refused(other + " has mode 0620")
	require.NoError(t, os.Remove(other))
	refused("no such file")
	require.NoError(t, os.Remove(path))
	f, err = User()
	require.NoError(t, err)
	require.Nil(t, f)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	refused("not a regular file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	refused("not a regular file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 100<<20))
	refused("too long: it has 104857600 bytes, the limit is 65536")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	refused(filepath.Dir(path) + " has mode 0777")
	_, err = Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A home that is no directory, or that a service cannot look into, holds no configuration.
func TestAHomeWithoutAConfiguration(t *testing.T) {
	none := func() {
		t.Helper()
		f, err := User()
		require.NoError(t, err)
		require.Nil(t, f)
	}
	path := userFile(t, "[nonsense]\n")
	if os.Getuid() != 0 { // who sees everything
		require.NoError(t, os.Chmod(filepath.Dir(path), 0))
		none()
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o700))
	}
	require.NoError(t, os.Remove(path))
	none()
	require.NoError(t, os.Remove(filepath.Dir(path)))
	none()
	require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
	none()
}

// The command line wins over the environment, which wins over the file.
func TestPresetFlags(t *testing.T) {
	userFile(t, "[proxy]\nyield = '2s'\nagent = true\ncols = 100\nnotify = ['a', 'b,c']\ngateway = 'wss://file'\ntoken-file = '/file'\n")
	f, err := User()
	require.NoError(t, err)
	set := func(args ...string) (*pflag.FlagSet, map[string]int) {
		t.Helper()
		s := pflag.NewFlagSet("x", pflag.ContinueOnError)
		s.Duration("yield", time.Second, "")
		s.Bool("agent", false, "")
		s.Int("cols", 0, "")
		s.StringArray("notify", nil, "")
		s.String("gateway", "", "")
		s.String("token-file", "", "")
		require.NoError(t, s.Parse(args))
		lines, err := f.Preset("proxy", Flags{Set: s})
		require.NoError(t, err)
		return s, lines
	}
	value := func(s *pflag.FlagSet, name string) string { return s.Lookup(name).Value.String() }
	s, lines := set()
	require.Equal(t, map[string]int{"yield": 2, "agent": 3, "cols": 4, "notify": 5, "gateway": 6, "token-file": 7}, lines)
	require.Equal(t, "2s true 100 [a,\"b,c\"] wss://file /file", strings.Join([]string{
		value(s, "yield"), value(s, "agent"), value(s, "cols"), value(s, "notify"), value(s, "gateway"), value(s, "token-file"),
	}, " "))
	s, lines = set("--yield", "3s", "--agent=false", "--notify", "mine")
	require.Equal(t, "3s false [mine]", value(s, "yield")+" "+value(s, "agent")+" "+value(s, "notify"))
	require.Equal(t, map[string]int{"cols": 4, "gateway": 6, "token-file": 7}, lines)

	s, _ = set("--gateway", "wss://other")
	require.Empty(t, value(s, "token-file"), "the file's token is for the file's gateway")
	t.Setenv("PROXY_GATEWAY", "wss://env")
	s, _ = set()
	require.Equal(t, " ", value(s, "gateway")+" "+value(s, "token-file"), "who reads the flags reads the environment")
	t.Setenv("PROXY_GATEWAY", "")
	t.Setenv("PROXY_TOKEN_FILE", "/env")
	s, _ = set()
	require.Equal(t, "wss://file ", value(s, "gateway")+" "+value(s, "token-file"))
}

// What agents must not see counts although something else is wrong; what they may, and how it looks, does not.
func TestABrokenFileStillHidesWhatItCan(t *testing.T) {
	for text, want := range map[string]string{
		"[redact]\nadd = ['A[0-9]+', '(', 'B[0-9]+']\nallow = ['.*']\n": "•• •• ",
		"[redact]\nnone = 1\nadd = ['A[0-9]+']\n[look]\nx=1\n":          "•• B1 ",
		"[redact\nadd = ['A[0-9]+']\n":                                  "A1 B1 ",
	} {
		userFile(t, text)
		f, err := User()
		if err == nil {
			_, err = f.Taste()
		}
		require.Error(t, err, text)
		token := "ghp_" + strings.Repeat("a1B2", 9)
		got, _ := f.SafeTaste().Redact.Text("A1 B1 "+token, -1)
		require.Equal(t, want+strings.Repeat("•", len(token)), got, text)
	}
}

// A value is written so that it reads as the same.
func FuzzLiteral(f *testing.F) {
	for _, text := range []string{"", "a", `ctrl-\`, `it's "so"`, "\x00\x1f\x7f\u0085", "日本", "\xff", "'''", "\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "�")
		var got map[string]any
		_, err := toml.Decode("a = "+Literal([]any{text, int64(1), true})+"\nb = "+Literal(text), &got)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"a": []any{text, int64(1), true}, "b": text}, got)
	})
}

// Whatever stands in a file, reading ends, and an error is one of ours with a line of the file.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "[proxy]\nyield='1s'", "[[proxy]]\n[proxy]\n", "a.b.c=1\n[a.b]\n", "x=[[[[[]]]]]", "[redact]\nadd=['(a+)+$']", "[look]\ntext=17\nbackground=16\n",
		"\xff\xfe", "a=\"\"\"\n\n\"\"\"", "[gateway.serve.x]\ny={z=1}\n", "\r\n[look]\r\ncolors='16'\r\n", "d=1979-05-27T07:32:00Z", "f=nan",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parse("x", text)
		if err == nil {
			if err = file.checkTables(); err == nil {
				_, err = file.Taste()
				_, _, _ = file.Rules()
			}
			set := pflag.NewFlagSet("x", pflag.ContinueOnError)
			set.Duration("yield", time.Second, "")
			set.StringArray("notify", nil, "")
			lines, bad := file.Preset("proxy", Flags{Set: set})
			for _, line := range lines {
				require.Positive(t, line)
			}
			if err == nil {
				err = bad
			}
			file.SafeTaste()
		}
		if err != nil {
			wrong, ok := errors.AsType[*Error](err)
			require.True(t, ok, "%T: %v", err, err)
			require.LessOrEqual(t, wrong.Line, bytes.Count(text, []byte("\n"))+2)
			require.NotEmpty(t, wrong.Say)
		}
	})
}
