package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
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

// indexName is the page itself. In it, {{.Build}} names the other files, and {{.Modules}} links the
// scripts that firstName needs. workerName is its service worker, which works for the whole page
// only from the root; {{.Build}} means the same there.
const (
	indexName  = "index.html"
	firstName  = "app.js"
	workerName = "sw.js"
)

// files are the files that a browser loads.
type files struct {
	build  string // names the other files: another content has another name
	page   content
	script content // of the service worker
	others map[string]content
}

// content is a file, plain and in gzip (RFC 1952): a phone loads the page over the air.
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

// serveContent answers with the form that the browser accepts.
func (c content) serveContent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	body := c.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(c.zipped) < len(body) {
		w.Header().Set("Content-Encoding", "gzip")
		body = c.zipped
	}
	_, _ = w.Write(body) // a client that went away misses nothing
}

// readFiles reads the embedded files.
func readFiles() (*files, error) {
	f := &files{others: make(map[string]content)}
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		plain, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".js" {
			plain = stripComments(plain)
		}
		if f.others[path.Base(name)], err = newContent(plain); err != nil {
			return err
		}
		_, err = fmt.Fprintf(sum, "%s %d\n%s", name, len(plain), plain)
		return err
	})
	if err == nil {
		f.build = hex.EncodeToString(sum.Sum(nil)[:8])
		f.page, err = f.buildIndex()
	}
	if err == nil {
		f.script, err = newContent(f.fillTemplate(workerName, "{{.Build}}", f.build))
	}
	if err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	delete(f.others, indexName)
	delete(f.others, workerName)
	return f, nil
}

var commentPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:/\*\*(?:[^*]|\*+[^*/])*\*+/|//.*)$`)
})

// stripComments empties the lines of a script that hold only comments: a phone need not load the
// types in them. The numbers of lines stay, so a fault names the line of the source. A line of a
// text could look like a comment, so make lint forbids texts of several lines.
func stripComments(script []byte) []byte {
	return commentPattern().ReplaceAllFunc(script, func(comment []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(comment, []byte("\n")))
	})
}

// buildIndex makes the page itself. It fills in digits and the names of our own files, so nothing
// has to be escaped.
func (f *files) buildIndex() (content, error) {
	modules := make(map[string]bool)
	f.collectImports(firstName, modules)
	var links strings.Builder
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		_, _ = fmt.Fprintf(
			&links,
			"<link rel=\"modulepreload\" href=\"/app/%s/%s\">\n",
			f.build,
			name,
		)
	}
	return newContent(f.fillTemplate(
		indexName,
		"{{.Modules}}",
		links.String(),
		"{{.Build}}",
		f.build,
	))
}

// fillTemplate replaces names in a file. It uses no template package: with one, the linker would
// keep the methods of all types.
func (f *files) fillTemplate(name string, pairs ...string) []byte {
	return []byte(strings.NewReplacer(pairs...).Replace(string(f.others[name].plain)))
}

var importPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:import .*|\}) from '\./([\w.]+)';$`) // in one line or several
})

// collectImports adds a script's imports, and theirs. The page names them all, so that a browser
// need not find them one after the other.
func (f *files) collectImports(name string, found map[string]bool) {
	for _, m := range importPattern().FindAllSubmatch(f.others[name].plain, -1) {
		if next := string(m[1]); !found[next] {
			found[next] = true
			f.collectImports(next, found)
		}
	}
}

// withSecurityHeaders puts security headers on every answer of next: our page runs our scripts and
// talks to us, and can do nothing else.
func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; " +
				"connect-src 'self'; img-src 'self'; " +
				"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; " +
				"frame-ancestors 'none'; " +
				"require-trusted-types-for 'script'; trusted-types worker",
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

func (f *files) serveWorker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", contentType(workerName))
	f.script.serveContent(w, r)
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
