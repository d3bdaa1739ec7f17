package components

import (
	"context"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
)

const etcdStartLimit = time.Minute

// etcdOptions are the flags of the etcd component. It listens on Unix sockets only: a user who may enter the cluster's
// directory may speak to it, and no one else.
type etcdOptions struct {
	dataDir      string
	clientSocket string
	peerSocket   string
	noFsync      bool
}

func newEtcdCommand() *cobra.Command {
	var o etcdOptions
	cmd := &cobra.Command{
		Use:           "etcd",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(*cobra.Command, []string) error { return runEtcd(o) },
	}
	cmd.Flags().StringVar(&o.dataDir, "data-dir", "", "directory of the database")
	cmd.Flags().StringVar(&o.clientSocket, "client-socket", "", "Unix socket for clients")
	cmd.Flags().StringVar(&o.peerSocket, "peer-socket", "", "Unix socket for peers, of which there are none")
	cmd.Flags().BoolVar(&o.noFsync, "unsafe-no-fsync", false, "do not wait for the disk: faster, and unsafe when the machine crashes")
	return cmd
}

func runEtcd(o etcdOptions) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	config := embed.NewConfig()
	config.Name = "devcluster"
	config.Dir = o.dataDir
	config.LogLevel = "warn"
	config.UnsafeNoFsync = o.noFsync
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	// A member without peers has no one to wait for in its election.
	config.TickMs, config.ElectionMs = 10, 100
	config.QuotaBackendBytes = 4 << 30
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Path: o.clientSocket}}
	config.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: o.peerSocket}}
	// Addresses of this form must be advertised; there is no one to use them.
	config.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("start etcd on %s: %w", o.dataDir, err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(etcdStartLimit):
		return fmt.Errorf("start etcd on %s: not ready after %s", o.dataDir, etcdStartLimit)
	}
	select {
	case err := <-server.Err():
		return fmt.Errorf("etcd failed: %w", err)
	case <-ctx.Done():
		return nil
	}
}
