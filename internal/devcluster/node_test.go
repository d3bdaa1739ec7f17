package devcluster

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
	"fairlead.dev/fairlead/test/must"
)

// TestKindOfNodesStays: pods are bound to nodes that would not be there any more.
func TestKindOfNodesStays(t *testing.T) {
	for name, c := range map[string]struct {
		before, after bool
		want          string // part of the refusal, or none
	}{
		"simulated again":      {false, false, ""},
		"real after simulated": {false, true, "that of a cluster with simulated nodes"},
		"simulated after real": {true, false, "that of a cluster with a real node"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(filepath.Join(t.TempDir(), "data"))
			must.NoError(t, dir.create())
			must.NoError(t, dir.writeRecord(record{Name: "x", Started: time.Now(), RealNode: c.before}))
			cluster := &Cluster{opts: Options{Name: "x", RealNode: c.after}, layout: layout{dir: dir}, routes: &routeTable{}}
			err := cluster.prepare()
			if cluster.reserved != nil {
				defer cluster.reserved.release()
			}
			if c.want == "" {
				must.NoError(t, err)
				return
			}
			must.Fail(t, "prepare", err, c.want, dir.path(), "choose another --name or --data-dir")
		})
	}
}

// TestArgumentsForARealNode: the API server reaches pods by itself, and nothing is simulated.
func TestArgumentsForARealNode(t *testing.T) {
	l := layout{dir: "/data", certs: &Directory{path: "/data/pki"}, sockets: "/data", apiPort: 6443}
	has := func(prefix string) bool {
		return slices.ContainsFunc(l.args(false)[APIServer], func(arg string) bool { return strings.HasPrefix(arg, prefix) })
	}
	for _, real := range []bool{false, true} {
		if real {
			l.realNode = &realnode.Config{Dir: "/data/node"}
		}
		must.Equal(t, "the tunnel", has("--egress-selector-config-file="), !real)
		must.Equal(t, "a client certificate for kubelet", has("--kubelet-client-certificate=/data/pki/"), real)
		must.Equal(t, "the address of the node", has("--advertise-address="+realnode.Address), real)
		must.Equal(t, "the Node authorizer", has("--authorization-mode=Node,RBAC"), real)
	}
}

// TestExposeOnNode leads only from the address of the node, and only to loopback.
func TestExposeOnNode(t *testing.T) {
	c := &Cluster{opts: Options{RealNode: true}}
	for _, from := range []string{"10.129.0.7:80", "namespace/service", "192.0.2.2:80"} {
		_, err := c.Route(from, "127.0.0.1:80")
		must.Fail(t, "a route from "+from, err, "calls pods themselves", realnode.Address)
	}
	_, err := c.Route(net.JoinHostPort(realnode.Address, "80"), "192.0.2.9:80")
	must.Fail(t, "a route to another machine", err, "must be on loopback")
}
