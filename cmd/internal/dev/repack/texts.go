package main

import (
	"bytes"
	"embed"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// writeFormula writes the formula for Homebrew, which belongs into a tap.
func writeFormula(r release) error {
	text, err := r.fillTemplate("formula.rb")
	if err != nil {
		return err
	}
	return r.writeFile(r.Name+".rb", text)
}

// writeFlake writes a flake for Nix, in an archive whose address Nix takes.
func writeFlake(r release) error {
	text, err := r.fillTemplate("flake.nix")
	if err != nil {
		return err
	}
	return r.writeArchive(r.Name+"-"+r.Version+"-flake.tar.gz", []file{
		{name: r.Name + "/", mode: 0o755},
		{name: r.Name + "/flake.nix", mode: 0o644, content: text},
	})
}

func (r release) fillTemplate(name string) ([]byte, error) {
	parsed, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, r)
	return text.Bytes(), err
}

// Class returns the name of the formula's class, as Homebrew makes it from the file's name.
func (r release) Class() string {
	return strings.ToUpper(r.Name[:1]) + r.Name[1:]
}

// BrewSystems returns the archives by Homebrew's name of their system.
func (r release) BrewSystems() map[string][]archive {
	found := make(map[string][]archive)
	for _, a := range r.Archives {
		found[a.System.Brew] = append(found[a.System.Brew], a)
	}
	return found
}
