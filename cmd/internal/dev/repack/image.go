package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The users of the image. Agents run as the second, which reads nothing of the gateway's.
const (
	gatewayUser = 10001
	agentUser   = 10002
)

// Media types of https://github.com/opencontainers/image-spec.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// image is an image layout in the making.
type image struct {
	release release
	blobs   []file
}

// writeImage writes an image layout as one tar archive, with an image for each Linux.
func writeImage(r release) error {
	m := &image{release: r}
	var manifests []descriptor
	for _, a := range r.Archives {
		if a.OS != "linux" {
			continue
		}
		d, err := m.addSystem(a)
		if err != nil {
			return err
		}
		manifests = append(manifests, d)
	}
	systems, err := m.addJSON(typeIndex, indexOf(manifests...))
	if err != nil {
		return err
	}
	systems.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.Version,
		"io.containerd.image.name":          "localhost/" + r.Name + ":" + r.Version,
	}
	index, err := json.Marshal(indexOf(systems))
	if err != nil {
		return err
	}
	layout := append([]file{
		{name: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, content: index},
	}, m.blobs...)
	packed, err := packTar(r.time, layout)
	if err != nil {
		return err
	}
	return r.writeFile(r.Name+"-"+r.Version+"-oci.tar", packed)
}

func indexOf(manifests ...descriptor) map[string]any {
	return map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": manifests}
}

// addSystem adds the layer, the configuration and the manifest of one system.
func (m *image) addSystem(a archive) (d descriptor, err error) {
	r := m.release
	layer, err := packTar(r.time, listImageFiles(r.Name, a))
	if err != nil {
		return d, err
	}
	packed, err := compress(layer)
	if err != nil {
		return d, err
	}
	config, err := m.addJSON(typeConfig, map[string]any{
		"created": r.time.Format(time.RFC3339), "os": a.OS, "architecture": a.Arch,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sumHex(layer)}},
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%[1]d", gatewayUser), "WorkingDir": homeOf(r.Name),
			"Env":        []string{"PATH=/usr/bin"},
			"Entrypoint": []string{"gateway"}, "Cmd": []string{"serve", "--listen", "127.0.0.1:7117"},
			"Volumes": map[string]any{homeOf(r.Name): struct{}{}},
			"Labels": map[string]string{
				"org.opencontainers.image.title": r.Name, "org.opencontainers.image.description": r.Summary(),
				"org.opencontainers.image.version": r.Version, "org.opencontainers.image.licenses": r.License,
				"org.opencontainers.image.url": r.Homepage, "org.opencontainers.image.source": r.Homepage,
			},
		},
	})
	if err != nil {
		return d, err
	}
	d, err = m.addJSON(typeManifest, map[string]any{
		"schemaVersion": 2, "mediaType": typeManifest,
		"config": config, "layers": []descriptor{m.addBlob(typeLayer, packed)},
	})
	d.Platform = map[string]string{"os": a.OS, "architecture": a.Arch}
	return d, err
}

func homeOf(user string) string { return "/var/lib/" + user }

// listImageFiles returns the files of the image: the programs, and two users with a home each.
func listImageFiles(name string, a archive) []file {
	users := fmt.Sprintf("root:x:0:0:root:/:/nonexistent\n%s:x:%d:%[2]d:gateway:%s:/nonexistent\n"+
		"agent:x:%d:%[4]d:agents:/home/agent:/nonexistent\n", name, gatewayUser, homeOf(name), agentUser)
	groups := fmt.Sprintf("root:x:0:\n%s:x:%d:\nagent:x:%d:\n", name, gatewayUser, agentUser)
	files := []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte(users)},
		{name: "etc/group", mode: 0o644, content: []byte(groups)},
		{name: "home/", mode: 0o755},
		{name: "home/agent/", mode: 0o700, owner: agentUser},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/" + name + "/", mode: 0o755},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: homeOf(name)[1:] + "/", mode: 0o700, owner: gatewayUser},
	}
	files = append(files, placeIn("usr/bin/", a.programs)...)
	return append(files, placeIn("usr/share/doc/"+name+"/", a.documents)...)
}

func (m *image) addJSON(mediaType string, content any) (d descriptor, err error) {
	text, err := json.Marshal(content)
	if err != nil {
		return d, err
	}
	return m.addBlob(mediaType, text), nil
}

func (m *image) addBlob(mediaType string, content []byte) descriptor {
	sum := sumHex(content)
	name := "blobs/sha256/" + sum
	if !slices.ContainsFunc(m.blobs, func(f file) bool { return f.name == name }) {
		m.blobs = append(m.blobs, file{name: name, mode: 0o644, content: content})
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
}
