package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, fake.Lingering()) }

// clock is a wall clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// house is a door with a gateway behind it.
type house struct {
	t       testing.TB
	door    *page.Door
	opening *page.Opening
	at      string // host:port
	clock   *clock
	links   chan *link // the dialled connections
}

// setup is a door with one opening.
type setup struct {
	page.Config
	page.Terms
}

// openDoor opens a door until the test ends; change may be nil.
func openDoor(t testing.TB, change func(*setup)) *house {
	t.Helper()
	h := &house{t: t, clock: &clock{now: time.Now()}, links: make(chan *link, 100)}
	cfg := setup{
		page.Config{Version: "v7", Now: h.clock.time, Times: page.Times{Linger: 2 * time.Second}},
		page.Terms{
			Role: auth.RoleViewer, Expires: time.Now().Add(time.Hour),
			Dial: func(context.Context) (page.Link, error) {
				l := newLink()
				h.links <- l
				return l, nil
			},
		},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	h.door, err = page.New(cfg.Config)
	require.NoError(t, err)
	h.opening, err = h.door.Open(cfg.Terms)
	require.NoError(t, err)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h.at = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- h.door.Serve(ln) }() // ends with the door
	t.Cleanup(func() {
		h.door.Close()
		require.NoError(t, <-served)
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
	fields map[string]any
}

func (h *house) do(method, path, body string, headers ...string) answer {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, "http://"+h.at+path, strings.NewReader(body))
	require.NoError(h.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(h.t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(got)}
	_ = json.Unmarshal(got, &a.fields) // if it is JSON
	return a
}

// browser is a page with its key.
type browser struct {
	h   *house
	key ed25519.PrivateKey
	id  string
}

func (h *house) browser() *browser {
	h.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(h.t, err)
	return &browser{h: h, key: key}
}

func (b *browser) public() ed25519.PublicKey {
	public, _ := b.key.Public().(ed25519.PublicKey)
	return public
}

// enter enters by a code.
func (b *browser) enter(code string) answer {
	b.h.t.Helper()
	body, err := json.Marshal(map[string]string{"code": code, "key": hex.EncodeToString(b.public())})
	require.NoError(b.h.t, err)
	got := b.h.do("POST", "/v1/page/enter", string(body))
	b.id, _ = got.fields["page"].(string)
	return got
}

// ask asks for a ticket, as the page of an id, at a moment.
func (b *browser) ask(id string, at int64) answer {
	b.h.t.Helper()
	body, err := json.Marshal(map[string]any{"page": id, "at": at, "signature": hex.EncodeToString(ed25519.Sign(b.key, page.TicketBytes(id, at)))})
	require.NoError(b.h.t, err)
	return b.h.do("POST", "/v1/tickets", string(body))
}

// ticket returns a valid ticket.
func (b *browser) ticket() string {
	b.h.t.Helper()
	b.h.clock.pass(time.Millisecond) // a signature is valid once
	got := b.ask(b.id, b.h.clock.time().UnixMilli())
	require.Equal(b.h.t, http.StatusOK, got.status, got.body)
	ticket, _ := got.fields["ticket"].(string)
	return ticket
}

// newPage returns a page that has entered.
func (h *house) newPage() *browser {
	h.t.Helper()
	b := h.browser()
	got := b.enter(h.opening.Code())
	require.Equal(h.t, http.StatusOK, got.status, got.body)
	return b
}

func TestTheFilesOfThePage(t *testing.T) {
	h := openDoor(t, nil)
	index := h.do("GET", "/", "")
	require.Equal(t, http.StatusOK, index.status)
	require.Equal(t, "no-store", index.header.Get("Cache-Control"))
	require.Equal(t, "text/html; charset=utf-8", index.header.Get("Content-Type"))
	_, rest, found := strings.Cut(index.body, `src="/app/`)
	require.True(t, found, index.body)
	script, _, _ := strings.Cut(rest, `"`)
	app := h.do("GET", "/app/"+script, "")
	require.Equal(t, http.StatusOK, app.status)
	require.Contains(t, app.header.Get("Cache-Control"), "immutable")
	require.Equal(t, "text/javascript; charset=utf-8", app.header.Get("Content-Type"))
	_, file, _ := strings.Cut(script, "/")
	for _, path := range []string{"/app/0123456789abcdef/" + file, "/app/" + script + "x", "/index.html", "/v1/sessions", "/app/../" + indexFile} {
		require.Equal(t, http.StatusNotFound, h.do("GET", path, "").status, path)
	}
	for _, got := range []answer{index, app, h.do("GET", "/nothing", ""), h.do("GET", "/", "", "Origin", "http://evil.example")} {
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			require.Equal(t, value, got.header.Get(name), name)
		}
		policy := got.header.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'", "manifest-src 'self'",
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
		} {
			require.Contains(t, strings.Split(policy, "; "), part)
		}
		require.NotContains(t, policy, "unsafe")
	}
}

const indexFile = "index.html"

// A browser gets each file once and compressed, and learns of all scripts from the page itself.
func TestTheFilesAreSmallAndNamedAtOnce(t *testing.T) {
	h := openDoor(t, nil)
	index := h.do("GET", "/", "").body
	require.Len(t, regexp.MustCompile(`<script|rel="stylesheet"|modulepreload`).FindAllString(index, -1), 3, "fault.js, app.js, style.css")
	for _, path := range append(regexp.MustCompile(`/app/[^"]+`).FindAllString(index, -1), "/") {
		plain := h.do("GET", path, "", "Accept-Encoding", "identity")
		require.Equal(t, http.StatusOK, plain.status, path)
		require.Empty(t, plain.header.Get("Content-Encoding"), path)
		zipped := h.do("GET", path, "", "Accept-Encoding", "gzip, deflate, br")
		require.Equal(t, "Accept-Encoding", zipped.header.Get("Vary"), path)
		if strings.HasSuffix(path, ".png") { // compressed already
			continue
		}
		require.Equal(t, "gzip", zipped.header.Get("Content-Encoding"), path)
		require.Less(t, len(zipped.body), len(plain.body), path)
		z, err := gzip.NewReader(strings.NewReader(zipped.body))
		require.NoError(t, err)
		again, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, plain.body, string(again), path)
	}
}

// A foreign name that resolves to this address gets nothing, and neither do other sites' pages,
// whatever they ask for.
func TestOnlyItsOwnPagesTalkToADoor(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Hosts = []string{"laptop.example.ts.net"} })
	_, port, err := net.SplitHostPort(h.at)
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		allowed bool
		headers []string
	}{
		{"no origin", true, nil},
		{"its own", true, []string{"Origin", "http://" + h.at}},
		{"its own, by name", true, []string{"Host", "localhost:" + port, "Origin", "http://localhost:" + port}},
		{"behind TLS", true, []string{"Host", "laptop.example.ts.net", "Origin", "https://laptop.example.ts.net"}},
		{"the same name without TLS", false, []string{"Host", "laptop.example.ts.net", "Origin", "http://laptop.example.ts.net"}},
		{"a rebound name", false, []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port}},
		{"a rebound name without an origin", false, []string{"Host", "evil.example:" + port}},
		{"another page", false, []string{"Origin", "http://evil.example"}},
		{"another port", false, []string{"Origin", "http://127.0.0.1:1"}},
		{"another scheme", false, []string{"Origin", "https://" + h.at}},
		{"another name of ours", false, []string{"Origin", "http://localhost:" + port}},
		{"null", false, []string{"Origin", "null"}},
		{"empty", false, []string{"Origin", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := http.StatusForbidden
			if c.allowed {
				want = http.StatusOK
			}
			require.Equal(t, want, h.do("GET", "/", "", c.headers...).status)
			b := h.newPage()
			at := h.clock.time().UnixMilli()
			signature := hex.EncodeToString(ed25519.Sign(b.key, page.TicketBytes(b.id, at)))
			got := h.do("POST", "/v1/tickets", `{"page":"`+b.id+`","at":`+jsonNumber(at)+`,"signature":"`+signature+`"}`, c.headers...)
			require.Equal(t, want, got.status, got.body)
			socket, status := h.dial(b.ticket(), c.headers...)
			if !c.allowed {
				require.Equal(t, http.StatusForbidden, status)
				return
			}
			require.Equal(t, "welcome", socket.next()["type"])
		})
	}
}

func jsonNumber(n int64) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func TestACodeIsGoodOnceAndForAMinute(t *testing.T) {
	h := openDoor(t, nil)
	used := h.opening.Code()
	require.Len(t, used, 16)
	got := h.browser().enter(used)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Regexp(t, `^p-[a-z2-7]{10}$`, got.fields["page"])
	require.Equal(t, "viewer", got.fields["role"])
	require.Equal(t, false, got.fields["pending"])
	require.Len(t, got.fields["words"], 6)
	require.NotZero(t, got.fields["expires"])

	refused := func(name, code string) { // each before another code exists
		got := h.browser().enter(code)
		require.Equal(t, http.StatusForbidden, got.status, name)
		require.Contains(t, got.fields["error"], "the link was used, or is more than a minute old", name)
	}
	refused("used", used)
	refused("none, while none is good", "")
	replaced, expired := h.opening.Code(), h.opening.Code()
	refused("replaced", replaced)
	refused("none", "")
	refused("guessed", "aaaaaaaaaaaaaaaa")
	h.clock.pass(time.Minute)
	refused("expired", expired)
	fresh := h.opening.Code()
	h.clock.pass(time.Minute - time.Millisecond)
	require.Equal(t, http.StatusOK, h.browser().enter(fresh).status)
}

func TestWhatIsNoRequestIsRefusedAndSpendsNoCode(t *testing.T) {
	h := openDoor(t, nil)
	code := h.opening.Code()
	for _, body := range []string{
		"", "[]", "{", `{"code":"` + code + `"}`, `{"code":"` + code + `","key":"zz"}`, `{"code":"` + code + `","key":"` + strings.Repeat("ab", 31) + `"}`,
		`{"code":"` + code + `","key":"` + strings.Repeat("ab", 4096) + `"}`,
	} {
		got := h.do("POST", "/v1/page/enter", body)
		require.Equal(t, http.StatusBadRequest, got.status, body)
		require.NotEmpty(t, got.fields["error"])
	}
	require.Equal(t, http.StatusOK, h.browser().enter(code).status)
	require.Equal(t, http.StatusBadRequest, h.do("POST", "/v1/tickets", `{"page":"p-1","at":1,"signature":"x"}`).status)
}

// A guesser waits for its answers, and the number of waiting guessers is bounded.
func TestGuessingIsSlow(t *testing.T) {
	h := openDoor(t, nil)
	for range 10 {
		require.Equal(t, http.StatusForbidden, h.browser().enter("aaaaaaaaaaaaaaaa").status)
	}
	const many = 40
	statuses := make(chan int, many)
	for range many {
		go func() { statuses <- h.browser().enter("aaaaaaaaaaaaaaaa").status }() // ends with its answer
	}
	count := map[int]int{}
	for range many {
		count[<-statuses]++
	}
	require.NotZero(t, count[http.StatusTooManyRequests], "%v: 17 answers never waited side by side", count)
	require.Equal(t, many, count[http.StatusTooManyRequests]+count[http.StatusForbidden])
	require.Equal(t, http.StatusOK, h.browser().enter(h.opening.Code()).status, "who has the code does not wait")
}

func TestATicketNeedsTheKeyAndTheMoment(t *testing.T) {
	h := openDoor(t, nil)
	b, other := h.newPage(), h.newPage()
	now := h.clock.time()
	require.Equal(t, http.StatusOK, b.ask(b.id, now.UnixMilli()).status)
	for name, got := range map[string]answer{
		"again":             b.ask(b.id, now.UnixMilli()),
		"of another page":   other.ask(b.id, now.UnixMilli()+1),
		"of an unknown one": b.ask("p-aaaaaaaaaa", now.UnixMilli()),
		"too old":           b.ask(b.id, now.Add(-61*time.Second).UnixMilli()),
		"too young":         b.ask(b.id, now.Add(61*time.Second).UnixMilli()),
	} {
		require.Equal(t, http.StatusForbidden, got.status, name)
		require.Nil(t, got.fields["ticket"], name)
	}
	signature := hex.EncodeToString(ed25519.Sign(b.key, page.TicketBytes(b.id, now.UnixMilli())))
	got := h.do("POST", "/v1/tickets", `{"page":"`+b.id+`","at":`+jsonNumber(now.UnixMilli()+5)+`,"signature":"`+signature+`"}`)
	require.Equal(t, http.StatusForbidden, got.status, "a signature with another time")
	for name, at := range map[string]time.Time{"within the past": now.Add(-59 * time.Second), "within the future": now.Add(59 * time.Second)} {
		require.Equal(t, http.StatusOK, b.ask(b.id, at.UnixMilli()).status, name)
	}
	h.clock.pass(61 * time.Second)
	require.Equal(t, http.StatusForbidden, b.ask(b.id, now.UnixMilli()).status, "forgotten as used, and too old by then")
	require.Equal(t, http.StatusForbidden, b.ask(b.id, now.Add(59*time.Second).UnixMilli()).status, "remembered as long as it would be good")
}

func TestAPagesTicketsAreBounded(t *testing.T) {
	h := openDoor(t, nil)
	b := h.newPage()
	count := 0
	for at := h.clock.time().UnixMilli(); ; at++ {
		got := b.ask(b.id, at)
		if got.status == http.StatusTooManyRequests {
			break
		}
		require.Equal(t, http.StatusOK, got.status, got.body)
		count++
		require.Less(t, count, 1000)
	}
	h.clock.pass(2 * time.Minute)
	require.NotEmpty(t, b.ticket())
}

// The words come from the key: a replaced key has other words.
func TestTheWordsAreOfTheKey(t *testing.T) {
	key, err := hex.DecodeString("5e0ba7746bd9c6f6b2e22c586d00ea47f69cdb5dd4d89812b0aece3849c5d934")
	require.NoError(t, err)
	words, err := page.Words(key)
	require.NoError(t, err)
	require.Equal(t, "donkey raft penguin funnel paper elbow", strings.Join(words, " "), "as another implementation makes them")

	asked := make(chan page.Visitor, 1)
	h := openDoor(t, func(c *setup) {
		c.Role = auth.RoleOwner
		c.Admit = func(ctx context.Context, v page.Visitor) (func(), error) {
			asked <- v
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	})
	b, swapper := h.browser(), h.browser()
	got := swapper.enter(h.opening.Code()) // in the middle, with the code of b's link
	own, err := page.Words(b.public())
	require.NoError(t, err)
	shown := (<-asked).Words
	require.NotEqual(t, own, shown)
	require.Equal(t, strings.Join(shown, " "), strings.Trim(strings.ReplaceAll(string(mustJSON(t, got.fields["words"])), `","`, " "), `[]"`))
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return bytes.TrimSpace(raw)
}

func TestTheWordsAreToldApart(t *testing.T) {
	h := openDoor(t, nil)
	_, rest, _ := strings.Cut(h.do("GET", "/", "").body, `src="/app/`)
	build, _, _ := strings.Cut(rest, "/")
	words := strings.Fields(h.do("GET", "/app/"+build+"/words.txt", "").body)
	seen := map[string]bool{}
	for _, w := range words {
		require.Regexp(t, "^[a-z]{3,8}$", w)
		seen[w] = true
	}
	require.Len(t, words, 256)
	require.Len(t, seen, 256)
}
