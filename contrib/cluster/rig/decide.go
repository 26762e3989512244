package rig

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

// NewClient returns a client of gateways, named as in --gateway, with the token of a file. With
// key, its identity lasts.
func NewClient(urls, tokenFile, path, name, key string) (*client.Client, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	ep, err := endpoint.Parse(urls)
	if err != nil {
		return nil, err
	}
	ep.Token = strings.TrimSpace(string(token))
	var doors []client.Door
	for _, one := range ep.All() {
		door := client.Door{Dial: one.DialContext, URL: one.URL(path), Header: one.Header()}
		doors = append(doors, door)
	}
	return client.New(client.Config{
		Dial: doors[0].Dial, URL: doors[0].URL, Header: doors[0].Header, Others: doors[1:],
		Name: name, Key: key,
	}), nil
}

// CreateTokens makes n tokens for proxies, inOne of them in each namespace. All gateways know them.
// viewers are files, each with the token of a viewer in one namespace.
func (r *Rig) CreateTokens(n, inOne int) (proxies, viewers []string, err error) {
	store, err := auth.OpenStore(r.tokensPath(), nil)
	if err != nil {
		return nil, nil, err
	}
	for i := range n {
		space := "team-" + strconv.Itoa(i/inOne)
		token, err := store.Create(auth.Token{
			Name: "machine-" + strconv.Itoa(i), Role: auth.RoleProxy, Namespace: space,
		})
		if err != nil {
			return nil, nil, err
		}
		if proxies = append(proxies, token); i%inOne != 0 {
			continue
		}
		token, err = store.Create(auth.Token{
			Name: "viewer-" + space, Role: auth.RoleViewer, Namespace: space,
		})
		if err != nil {
			return nil, nil, err
		}
		file := filepath.Join(r.Dir, space+".token")
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			return nil, nil, err
		}
		viewers = append(viewers, file)
	}
	return proxies, viewers, nil
}

// AllowControl lets an owner at a gateway allow the request in a session, whose proxy must trust
// gateways.
func (r *Rig) AllowControl(ctx context.Context, g *Gateway, ownerToken, session string) error {
	c, err := NewClient(g.URL(), ownerToken, protocol.PathView, "", "")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.Decide(ctx, &protocol.ControlDecide{
		SessionID: session, Grant: true, Level: protocol.LevelDrive, By: "the owner",
	})
}
