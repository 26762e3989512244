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

// indexName is the page itself. In it, {{.Build}} names the other files, {{.Modules}} links the scripts that firstName needs.
// workerName is its service worker, which works for all of the page only from the root; {{.Build}} means the same there.
const (
	indexName  = "index.html"
	firstName  = "app.js"
	workerName = "sw.js"
)

// files are what a browser loads.
type files struct {
	build  string // names the other files: another content has another name
	page   content
	script content // of the service worker
	others map[string]content
}

// content is a file, and the same in gzip (RFC 1952): a phone loads the page over the air.
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

// serve answers with the form that the browser takes.
func (c content) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	body := c.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(c.zipped) < len(body) {
		w.Header().Set("Content-Encoding", "gzip")
		body = c.zipped
	}
	_, _ = w.Write(body) // who went away misses nothing
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
		if f.others[path.Base(name)], err = newContent(plain); err != nil {
			return err
		}
		_, err = fmt.Fprintf(sum, "%s %d\n%s", name, len(plain), plain)
		return err
	})
	if err == nil {
		f.build = hex.EncodeToString(sum.Sum(nil)[:8])
		f.page, err = f.first()
	}
	if err == nil {
		f.script, err = newContent(f.filled(workerName, "{{.Build}}", f.build))
	}
	if err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	delete(f.others, indexName)
	delete(f.others, workerName)
	return f, nil
}

// first is the page itself. The names that it gets are digits and those of our own files: nothing has to be escaped.
func (f *files) first() (content, error) {
	modules := make(map[string]bool)
	f.imports(firstName, modules)
	var links strings.Builder
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		_, _ = fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"/app/%s/%s\">\n", f.build, name)
	}
	return newContent(f.filled(indexName, "{{.Modules}}", links.String(), "{{.Build}}", f.build))
}

// filled is a file with something in place of names. No template does it: with one, the linker would keep the methods of all types.
func (f *files) filled(name string, pairs ...string) []byte {
	return []byte(strings.NewReplacer(pairs...).Replace(string(f.others[name].plain)))
}

var imported = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^import .* from '\./([\w.]+)';$`) })

// imports adds what a script imports, and what those do: the page names them all, so that a browser does not find one after the other.
func (f *files) imports(name string, found map[string]bool) {
	for _, m := range imported().FindAllSubmatch(f.others[name].plain, -1) {
		if next := string(m[1]); !found[next] {
			found[next] = true
			f.imports(next, found)
		}
	}
}

// guarded is next behind the headers that stand on every answer: a page of ours runs our scripts and talks to us, and that is all.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
				"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
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

func (f *files) index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	f.page.serve(w, r)
}

func (f *files) worker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", contentType(workerName))
	f.script.serve(w, r)
}

func (f *files) file(w http.ResponseWriter, r *http.Request) {
	file, ok := f.others[r.PathValue("file")]
	if !ok || r.PathValue("build") != f.build {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType(r.PathValue("file")))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	file.serve(w, r)
}

// contentType is that of a file, by its name. What a system's own table says of scripts cannot be relied on.
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
