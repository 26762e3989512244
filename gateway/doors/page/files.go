package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// indexName is the page itself; it names the other files by {{.Build}}. firstName is its first
// script, joined with those that it needs at once.
const (
	indexName = "index.html"
	firstName = "app.js"
)

// files are the files that a browser loads.
type files struct {
	build  string // in the names of the others, so that a change of content changes the names
	page   content
	others map[string]content
}

// content is a file, plain and compressed by gzip (RFC 1952): a phone loads the page over a mobile
// network.
type content struct{ plain, zipped []byte }

func newContent(plain []byte) (content, error) {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err == nil {
		err = z.Close()
	}
	return content{plain, zipped.Bytes()}, err
}

// serveContent sends the form that the browser accepts.
func (c content) serveContent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	body := c.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(c.zipped) < len(body) {
		w.Header().Set("Content-Encoding", "gzip")
		body = c.zipped
	}
	_, _ = w.Write(body) // fails if the client has disconnected
}

// readFiles returns the embedded files. All doors of a process share them: joining and compressing
// them takes longer than everything else that opens a door.
var readFiles = sync.OnceValues(func() (*files, error) {
	f := &files{others: make(map[string]content)}
	sum := sha256.New()
	sources, err := readSources()
	if err == nil {
		err = joinFirst(sources)
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err == nil {
			f.others[name], err = newContent(sources[name])
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(sources[name]), sources[name]) // a hash
	}
	if err == nil {
		f.build = hex.EncodeToString(sum.Sum(nil)[:8])
		f.page, err = newContent(f.fillTemplate())
	}
	if err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	delete(f.others, indexName)
	return f, nil
})

// readSources returns the embedded files by name, scripts without comments.
func readSources() (map[string][]byte, error) {
	entries, err := static.ReadDir("static")
	if err != nil {
		return nil, err
	}
	sources := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		name := entry.Name()
		if sources[name], err = static.ReadFile("static/" + name); err != nil {
			return nil, err
		}
		if path.Ext(name) == ".js" {
			sources[name] = stripComments(sources[name])
		}
	}
	return sources, nil
}

var commentPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:/\*\*(?:[^*]|\*+[^*/])*\*+/|//.*)$`)
})

// stripComments empties the lines of a script that hold only comments, so that a phone need not
// load them. Line numbers stay, so an error names the line of the source. A line of a string could
// look like a comment, so make lint forbids strings of several lines.
func stripComments(script []byte) []byte {
	return commentPattern().ReplaceAllFunc(script, func(comment []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(comment, []byte("\n")))
	})
}

// fillTemplate inserts the build into the page. It uses no template package: with one, the linker
// would keep the methods of all types.
func (f *files) fillTemplate() []byte {
	return bytes.ReplaceAll(f.others[indexName].plain, []byte("{{.Build}}"), []byte(f.build))
}

// withSecurityHeaders adds security headers to every answer of next: the page may run its own
// scripts and talk to this server, and nothing else.
func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; " +
				"connect-src 'self'; img-src 'self'; " +
				"manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
				"frame-ancestors 'none'; " +
				"require-trusted-types-for 'script'; trusted-types 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

func (f *files) serveIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	f.page.serveContent(w, r)
}

func (f *files) serveFile(w http.ResponseWriter, r *http.Request) {
	file, ok := f.others[r.PathValue("file")]
	if !ok || r.PathValue("build") != f.build {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType(r.PathValue("file")))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	file.serveContent(w, r)
}

// contentType returns a file's content type by its name. A system's own table is unreliable for
// scripts.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	default:
		if kind := mime.TypeByExtension(ext); kind != "" {
			return kind
		}
		return "application/octet-stream"
	}
}
