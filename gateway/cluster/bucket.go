package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// The bucket is a JetStream key-value store in the format of NATS' own tools (ADR-8). The requests
// to JetStream use core NATS: the client's own interface to it would double the client's share of
// the program.
const (
	bucket    = "tp1_sessions"
	stream    = "KV_" + bucket
	keySpace  = "$KV." + bucket + "."
	api       = "$JS.API."
	operation = "KV-Operation"
)

// JetStream's error codes.
const (
	codeNoStream     = 10059
	codeExists       = 10058
	codeWrongLast    = 10071
	codeWrongLastIs  = 10164 // the same, of a stream with replicas
	codeNoReplicas   = 10074 // the cluster has one server
	codeNoPeers      = 10005 // the cluster has too few servers
	codeNoQuorum     = 10008
	codeDisabled     = 10039 // for this account
	codeDisabledHere = 10076 // at this server
	notFound         = "404"
	createTime       = 5 * time.Second
	// for one entry: while the servers elect a leader, sessions open unentered.
	answerTime       = time.Second
	expectedSequence = "Nats-Expected-Last-Subject-Sequence"
)

var errNoJetStream = errors.New(
	"JetStream does not answer: it is not enabled for this user, or its quorum is lost",
)

// refusal is JetStream's error in an answer.
type refusal struct {
	Code        int    `json:"err_code"`
	Description string `json:"description"`
}

func (r *refusal) Error() string { return fmt.Sprintf("JetStream: %s (%d)", r.Description, r.Code) }

// askJetStream sends a request to JetStream and reads its answer.
func (b *natsBus) askJetStream(m *nats.Msg, limit time.Duration, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	got, err := b.conn.RequestMsgWithContext(ctx, m)
	if errors.Is(err, nats.ErrNoResponders) {
		return errNoJetStream
	}
	if err != nil {
		return b.markOffline(err)
	}
	var said struct{ Error *refusal }
	if err := json.Unmarshal(got.Data, &said); err != nil {
		return fmt.Errorf("JetStream: %w", err)
	}
	if said.Error != nil {
		return said.Error
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got.Data, answer)
}

// ensureBucket creates the bucket if it does not exist, with a replica on up to three servers.
func (b *natsBus) ensureBucket() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made != "" {
		return nil
	}
	_, err := b.findBucketLocked()
	return err
}

// directoryRecreated implements bus.
func (b *natsBus) directoryRecreated() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.made
	now, err := b.findBucketLocked()
	return err == nil && before != "" && now != before
}

// findBucketLocked returns when the bucket was created, and creates it if it does not exist.
func (b *natsBus) findBucketLocked() (made string, err error) {
	if !b.isOnline() {
		return "", errOffline
	}
	var info struct{ Created string }
	err = b.askJetStream(nats.NewMsg(api+"STREAM.INFO."+stream), callTime, &info)
	for _, replicas := range []int{3, 1} {
		if !isRefusedWith(err, codeNoStream, codeNoReplicas, codeNoPeers) {
			break
		}
		if err = b.createBucket(replicas, &info); isRefusedWith(err, codeExists) {
			err = b.askJetStream(nats.NewMsg(api+"STREAM.INFO."+stream), callTime, &info)
		}
	}
	if err != nil {
		return "", fmt.Errorf("bucket %s: %w", bucket, err)
	}
	b.made = cmp.Or(info.Created, "once")
	return b.made, nil
}

func (b *natsBus) createBucket(replicas int, info any) error {
	m := nats.NewMsg(api + "STREAM.CREATE." + stream)
	var err error
	m.Data, err = json.Marshal(map[string]any{
		"name":                 stream,
		"description":          "which gateway has which session",
		"subjects":             []string{keySpace + ">"},
		"storage":              "file",
		"num_replicas":         replicas,
		"max_msgs_per_subject": 1,
		"max_age":              claimTime,
		"discard":              "new",
		"retention":            "limits",
		"max_consumers":        -1,
		"max_msgs":             -1,
		"max_bytes":            -1,
		"max_msg_size":         -1,
		"duplicate_window":     2 * time.Minute,
		"allow_rollup_hdrs":    true,
		"deny_delete":          true,
		"allow_direct":         true,
	})
	if err != nil {
		return err
	}
	return b.askJetStream(m, createTime, info)
}

// isRefusedWith reports whether JetStream refused with one of the codes.
func isRefusedWith(err error, codes ...int) bool {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if r.Code == code {
			return true
		}
	}
	return false
}

func (b *natsBus) read(key string) ([]byte, uint64, error) {
	if err := b.ensureBucket(); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	got, err := b.conn.RequestWithContext(ctx, api+"DIRECT.GET."+stream+"."+keySpace+key, nil)
	if err != nil {
		return nil, 0, b.markOffline(err)
	}
	switch status := got.Header.Get("Status"); status {
	case "":
	case notFound:
		return nil, 0, errNoKey
	default:
		return nil, 0, fmt.Errorf("JetStream: %s %s", status, got.Header.Get("Description"))
	}
	revision, err := strconv.ParseUint(got.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("JetStream: an entry without its number: %w", err)
	}
	if got.Header.Get(operation) != "" { // a removal
		return nil, revision, errNoKey
	}
	return got.Data, revision, nil
}

func (b *natsBus) write(key string, value []byte, revision uint64) (uint64, error) {
	m := nats.NewMsg(keySpace + key)
	m.Data = value
	return b.writeRevision(m, revision)
}

func (b *natsBus) removeKey(key string, revision uint64) error {
	m := nats.NewMsg(keySpace + key)
	m.Header.Set(operation, "PURGE")
	m.Header.Set("Nats-Rollup", "sub")
	_, err := b.writeRevision(m, revision)
	return err
}

// writeRevision writes if revision is still the newest one of the key.
func (b *natsBus) writeRevision(m *nats.Msg, revision uint64) (uint64, error) {
	if err := b.ensureBucket(); err != nil {
		return 0, err
	}
	m.Header.Set(expectedSequence, strconv.FormatUint(revision, 10))
	var done struct {
		Seq uint64 `json:"seq"`
	}
	err := b.askJetStream(m, answerTime, &done)
	if isRefusedWith(err, codeWrongLast, codeWrongLastIs) {
		return 0, errTaken
	}
	return done.Seq, err
}
