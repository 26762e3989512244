package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// proofTime bounds the exchange of proofs, so that another program at that address cannot hang a
// client.
const proofTime = 5 * time.Second

// proveToken proves to the other end that this end has the token. The other end first shows that it
// has the token's hash; only then does it get the token's signature. Another program that listens
// there learns a random number, and a name that means nothing without the token.
func (e Endpoint) proveToken(ctx context.Context, raw net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	conn, err := handshake.Bound(raw, proofTime)
	if err != nil {
		return err
	}
	c := auth.Challenge{Ref: auth.Ref(e.Token), ClientNonce: auth.Nonce()}
	replies := bufio.NewReaderSize(conn, protocol.MaxProof)
	got, err := e.exchangeProof(ctx, conn, replies, protocol.Proof{
		Token: c.Ref,
		Nonce: c.ClientNonce,
	})
	if err != nil {
		return err
	}
	c.ServerNonce = got.Nonce
	if !auth.ValidNonce(got.Nonce) || !c.ServerKnows(e.Token, got.Answer) {
		return e.unprovenError(
			"the server at %s is not the gateway that made this token: the token was not shown " +
				"to it",
		)
	}
	if _, err := e.exchangeProof(ctx, conn, replies, protocol.Proof{
		Token:  c.Ref,
		Answer: c.Answer(e.Token),
	}); err != nil {
		return err
	}
	if replies.Buffered() > 0 {
		return e.unprovenError("the server at %s sent unexpected data")
	}
	return conn.Done()
}

func (e Endpoint) unprovenError(format string) error {
	return &protocol.Error{Code: protocol.CodeUnauthorized, Message: fmt.Sprintf(format, e)}
}

// exchangeProof sends one request and reads its answer. The connection stays open.
func (e Endpoint) exchangeProof(
	ctx context.Context, conn net.Conn, replies *bufio.Reader, ask protocol.Proof,
) (got protocol.Proof, err error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return got, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+e.host+protocol.PathProof, bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	if err := req.Write(conn); err != nil {
		return got, fmt.Errorf("prove to the gateway: %w", err)
	}
	resp, err := http.ReadResponse(replies, req)
	if err != nil {
		return got, fmt.Errorf("prove to the gateway: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	return e.readProof(resp)
}

// readProof returns the gateway's answer, or the reason why it has none.
func (e Endpoint) readProof(resp *http.Response) (got protocol.Proof, err error) {
	answer, err := io.ReadAll(io.LimitReader(resp.Body, protocol.MaxProof+1))
	switch {
	case err != nil:
		return got, fmt.Errorf("prove to the gateway: %w", err)
	case resp.StatusCode == http.StatusUnauthorized:
		return got, e.unprovenError(
			"the gateway at %s refused the connection: " +
				strings.ReplaceAll(auth.ErrUnknownToken.Error(), "%", "%%"),
		)
	case resp.StatusCode == http.StatusForbidden: // the answer has the reason
		why, _, _ := strings.Cut(strings.TrimSpace(protocol.Visible(string(answer))), "\n")
		return got, e.unprovenError(
			"the gateway at %s refused the connection: " + strings.ReplaceAll(why, "%", "%%"),
		)
	case resp.StatusCode >= http.StatusInternalServerError:
		return got, fmt.Errorf("the gateway at %s cannot prove itself now (%s)", e, resp.Status)
	case resp.StatusCode != http.StatusOK || len(answer) > protocol.MaxProof ||
		json.Unmarshal(answer, &got) != nil:
		return got, e.unprovenError("%s is not a gateway, or an older one: the token was not sent")
	}
	return got, nil
}
