package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

//go:embed static
var static embed.FS

// indexName is the page itself. It is a template: {{.Build}} names the other files.
const indexName = "index.html"

// files are what a browser loads.
type files struct {
	build  string // names the other files: another content has another name
	page   []byte
	others map[string][]byte
}

// readFiles reads the embedded files.
func readFiles() (*files, error) {
	f := &files{others: make(map[string][]byte)}
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		f.others[path.Base(name)] = content
		_, err = fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	f.build = hex.EncodeToString(sum.Sum(nil)[:8])
	index, err := template.New(indexName).Parse(string(f.others[indexName]))
	if err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	delete(f.others, indexName)
	var page bytes.Buffer
	if err := index.Execute(&page, struct{ Build string }{f.build}); err != nil {
		return nil, fmt.Errorf("files of the page: %w", err)
	}
	f.page = page.Bytes()
	return f, nil
}

// guarded is next behind the headers that stand on every answer: a page of ours runs our scripts and talks to us, and that is all.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
				"manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
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

func (f *files) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(f.page) // who went away misses nothing
}

func (f *files) file(w http.ResponseWriter, r *http.Request) {
	content, ok := f.others[r.PathValue("file")]
	if !ok || r.PathValue("build") != f.build {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType(r.PathValue("file")))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(content)
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
