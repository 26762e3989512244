package rig

import (
	"context"
	"os"
	"strconv"
	"strings"

	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// Client is a client of gateways, named as --gateway has them, with the token of a file. key makes its identity last, "" does not.
func Client(urls, tokenFile, path, name, key string) (*client.Client, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	ep, err := gateway.ParseEndpoint(urls)
	if err != nil {
		return nil, err
	}
	ep.Token = strings.TrimSpace(string(token))
	var doors []client.Door
	for _, one := range ep.All() {
		doors = append(doors, client.Door{Dial: one.DialContext, URL: one.URL(path), Header: one.Header()})
	}
	return client.New(client.Config{
		Dial: doors[0].Dial, URL: doors[0].URL, Header: doors[0].Header, Others: doors[1:], Name: name, Key: key,
	}), nil
}

// Tokens makes n tokens for proxies, which all gateways know.
func (r *Rig) Tokens(n int) (all []string, err error) {
	store, err := auth.OpenStore(r.tokens(), nil)
	if err != nil {
		return nil, err
	}
	for i := range n {
		token, err := store.Create(auth.Token{Name: "machine-" + strconv.Itoa(i), Role: auth.RoleProxy})
		if err != nil {
			return nil, err
		}
		all = append(all, token)
	}
	return all, nil
}

// Decide has an owner at a gateway allow what is asked for in a session, whose proxy takes the word of a gateway.
func (r *Rig) Decide(ctx context.Context, at *Gateway, ownerToken, session string) error {
	c, err := Client(at.URL(), ownerToken, protocol.PathView, "", "")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.Decide(ctx, &protocol.ControlDecide{SessionID: session, Grant: true, Level: protocol.LevelDrive, By: "the owner"})
}
