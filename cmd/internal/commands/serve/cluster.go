package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/cluster"
	"terminalproxy/gateway/hub"
)

// clusterFlags name the other gateways that a gateway joins.
type clusterFlags struct {
	servers   []string
	creds, ca string
}

func (f *clusterFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.servers, "cluster", nil,
		"join other gateways over NATS: `URL[,URL]` of its servers, as nats://HOST or "+
			"tls://HOST:4222; they share the token file")
	flags.StringVar(&f.creds, "cluster-creds", "",
		"`FILE` with the NATS user's credentials (.creds), or the seed of its NKey")
	flags.StringVar(&f.ca, "cluster-tls-ca", "",
		"`FILE` with the certificates (PEM) that sign those of the NATS servers")
}

// checkFlags rejects invalid flags.
func (f *clusterFlags) checkFlags() error {
	if len(f.servers) == 0 {
		if f.creds != "" || f.ca != "" {
			return cli.Usage(
				"serve: --cluster-creds and --cluster-tls-ca say how to join a cluster: name its " +
					"servers with --cluster")
		}
		return nil
	}
	for i, server := range f.servers {
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return cli.Usage("serve: --cluster %.60q: must be nats://HOST[:PORT] or tls://HOST[:PORT]",
				f.servers[i])
		}
		if u.User != nil {
			return cli.Usage(
				"serve: --cluster: a URL with a password can be read by others: put the " +
					"credentials into a file, see --cluster-creds")
		}
		f.servers[i] = server
	}
	for flag, path := range map[string]string{
		"--cluster-creds":  f.creds,
		"--cluster-tls-ca": f.ca,
	} {
		if path == "" {
			continue
		}
		if err := checkReadable(path, flag == "--cluster-creds"); err != nil {
			if _, ok := errors.AsType[*fs.PathError](err); ok {
				return explainUnusable(&cluster.BadFile{Setting: flag, Cause: err})
			}
			return cli.Usage("serve: %s: %w", flag, err)
		}
	}
	return nil
}

// explainUnusable makes the failure for an unusable file of a flag, with a hint.
func explainUnusable(err error) error {
	return cli.Fail(cli.StatusUsage, "serve: %w", err).WithHint(client.Hint(err))
}

// checkReadable reports why a file cannot be read, or that it is secret and readable by everyone. A
// service's group may read its secrets.
func checkReadable(path string, secret bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); secret && mode&0o007 != 0 {
		return fmt.Errorf(
			"%s has mode %04o, so every user here can be this gateway in the cluster: chmod 600 %s",
			path, mode, path)
	}
	return nil
}

// clusterName returns an identifier that all gateways of a cluster share, for proxies that move
// between them; "" without a cluster.
func (f *clusterFlags) clusterName() string {
	if len(f.servers) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(f.servers)), ",")))
	return hex.EncodeToString(sum[:8])
}

func (f *clusterFlags) clusterConfig() cluster.Config {
	return cluster.Config{Servers: f.servers, Credentials: f.creds, CA: f.ca}
}

// checkServers tries the servers that the flags name. It fails if no server can ever work, and
// writes other faults to warn, because the gateway can start despite them. good means no fault.
func (f *clusterFlags) checkServers(ctx context.Context, warn io.Writer) (good bool, err error) {
	if len(f.servers) == 0 {
		return true, nil
	}
	cfg := f.clusterConfig()
	found, err := cluster.CheckServers(ctx, cfg)
	all := cluster.Troubles(found)
	switch {
	case err != nil:
		return false, explainUnusable(err)
	case cfg.IsHopeless(found):
		return false, cli.Fail(cli.StatusRefused, "serve: --cluster: %w", all).WithHint(all.Hint())
	}
	for _, t := range all {
		_, _ = fmt.Fprintf(warn, "gateway: serve: --cluster: %v\nhint: %s\n", t, t.Do)
	}
	return len(all) == 0, nil
}

// joinCluster connects a server to the cluster that the flags name. leave disconnects it, after the
// server is closed. If the cluster is unreachable, joinCluster writes that to warn.
func (f *clusterFlags) joinCluster(
	server *gateway.Server, address string, warn io.Writer, log *slog.Logger,
) (leave func(), err error) {
	if len(f.servers) == 0 {
		return func() {}, nil
	}
	cfg := f.clusterConfig()
	cfg.Log, cfg.Address, cfg.Version, cfg.Hub = log, address, version.String(), server.Switchboard()
	cfg.Admit = func(m hub.Member) (cluster.Seat, error) { return server.Admit(m) }
	c, err := cluster.Join(cfg)
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "serve: %w", err).WithHint(client.Hint(err))
	}
	server.SetOthers(c)
	if online, _ := c.ConnectionState(); !online {
		trouble, do := c.Problem()
		_, _ = fmt.Fprintf(warn,
			"gateway: serve: --cluster: %s\n"+
				"hint: %s; this gateway continues with its own sessions, and joins the others "+
				"when a server answers\n",
			cmp.Or(trouble, "no server answers yet"), cmp.Or(do, "check the NATS servers"))
	}
	return c.Close, nil
}
