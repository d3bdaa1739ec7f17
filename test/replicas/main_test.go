package replicas

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
)

// replicaVariable of the environment makes this program a manager, which the API server reaches at the address that it names.
const replicaVariable = "FAIRLEAD_TEST_REPLICA"

func TestMain(m *testing.M) {
	if at := os.Getenv(replicaVariable); at != "" {
		os.Exit(manage(netip.MustParseAddr(at)))
	}
	devcluster.MainAlone(m)
}

// manage is the program of a replica: that of the image.
func manage(at netip.Addr) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := manager.New(os.Stderr, func(_ string, kubeconfigs []string) func(context.Context, netip.AddrPort) (netip.AddrPort, func(), error) {
		return func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
			cluster, err := devcluster.Connect(filepath.Dir(kubeconfigs[0]))
			if err != nil {
				return netip.AddrPort{}, nil, err
			}
			advertised := netip.AddrPortFrom(at, local.Port())
			remove, err := cluster.Route(ctx, advertised.String(), local.String())
			return advertised, remove, err
		}
	})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
