package browser

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// TestLogin: the page to log in at can be read by all, as it is and with what failed, and lets in who has a token.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	w.roles()
	account := &corev1.ServiceAccount{ObjectMeta: w.Named("reader")}
	w.Make(account)
	request := &authenticationv1.TokenRequest{}
	must.NoError(t, w.SubResource("token").Create(t.Context(), account, request))

	access := must.Value(console.NewClusterAccess(console.ClusterOptions{Config: devcluster.Config(), Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}))(t)
	listener := must.Value((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	c := must.Value(console.New(console.Options{Access: access, Hosts: console.Loopback(listener.Addr()), Library: must.Value(library())(t), GlobalNamespace: global,
		Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}))(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		must.NoErrorf(t, <-served, "serve the console")
	})

	p := newTab(t, "http://"+listener.Addr().String()+"/?")
	p.open("/sources")
	p.arrives("/login")
	p.sees("Log in", "Bearer token")
	p.accessible()
	const label = "Bearer token of a user or a service account"
	p.fill(label, "no-token")
	p.click("Log in")
	p.sees("What to do:")
	p.accessible()
	p.fill(label, request.Status.Token)
	p.click("Log in")
	p.arrives("/sources")
	p.sees("system:serviceaccount:" + w.Namespace + ":reader")
	p.accessible()
}
