package main

import (
	"bytes"
	"encoding/json"
)

// writePackages writes the packages for npm: one for each system with the programs, and one that
// depends on them, of which npm installs what suits the machine. No package has a script that npm
// runs at the installation.
func writePackages(r release) error {
	launcher, err := templates.ReadFile("templates/launcher.sh")
	if err != nil {
		return err
	}
	launcher = bytes.ReplaceAll(launcher, []byte("NAME"), []byte(r.Name))
	var launchers []file
	programs, parts := make(map[string]string), make(map[string]string)
	for _, p := range r.Archives[0].programs {
		launchers = append(launchers, file{name: p.name, mode: 0o755, content: launcher})
		programs[p.name] = "bin/" + p.name
	}
	for _, a := range r.Archives {
		name := r.Name + "-" + a.System.NPM + "-" + a.CPU.NPM
		parts[name] = r.Version
		about := map[string]any{"os": []string{a.System.NPM}, "cpu": []string{a.CPU.NPM}}
		if err := r.writePackage(name, about, a.programs, a.documents); err != nil {
			return err
		}
	}
	about := map[string]any{"bin": programs, "optionalDependencies": parts}
	return r.writePackage(r.Name, about, launchers, r.Archives[0].documents)
}

// writePackage writes a package under the name that npm pack gives it.
func (r release) writePackage(name string, about map[string]any, programs, documents []file) error {
	about["name"], about["version"] = name, r.Version
	about["description"], about["license"], about["homepage"] = r.Summary(), r.License, r.Homepage
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	files := []file{{name: "package/package.json", mode: 0o644, content: append(text, '\n')}}
	files = append(files, placeIn("package/bin/", programs)...)
	files = append(files, placeIn("package/", documents)...)
	return r.writeArchive(name+"-"+r.Version+".tgz", files)
}
