package manager

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Bounds of the console.
const (
	// consoleIdle is how long a session lasts unused, and consoleWhole how long at most.
	consoleIdle  = 30 * time.Minute
	consoleWhole = 12 * time.Hour
	// consoleConnections is how many there may be at once; further ones wait.
	consoleConnections = 1000
	// consoleBytes is how large the images may grow that are pulled for what users ask: apart from the content store, because what was pulled
	// with the credentials of the manager is not for users.
	consoleBytes = 512 << 20
	consoleDir   = "console"
)

// consoleServer serves the web console. It runs in every manager. Sessions are in the memory of one: the Service leads a client to the same one.
type consoleServer struct {
	listener net.Listener
	serving  *dynamiccertificates.DynamicServingCertificateController
	pair     metrics.Certificate
	console  *console.Console
	changes  *console.CacheChanges
	library  *preview.Library
	mgr      manager.Manager
	log      logr.Logger
}

// openConsole listens, so that a busy port is told before anything else; nil when the console is not to be served. Its users have the address and the CA
// bundle of the API server from the manager, and nothing else.
func openConsole(ctx context.Context, o Options, s stores, own metrics.Certificate) (_ *consoleServer, err error) {
	c := o.Console
	if err := c.check(); err != nil || !c.Enabled {
		return nil, err
	}
	log := o.Log.WithName("console")
	lines := slog.New(logr.ToSlogHandler(log))
	v := &consoleServer{changes: console.NewCacheChanges(o.clusterWide()), log: log}
	if v.serving, v.pair, err = servingIdentity("serve the console", "console", c.Certificate, c.Key, "--"+consoleCert+" and --"+consoleKey, own); err != nil {
		return nil, err
	}
	provider, err := c.provider()
	if err != nil {
		return nil, err
	}
	access, err := console.NewClusterAccess(console.ClusterOptions{Config: o.Config, OIDC: provider, Log: lines, Clock: o.Clock})
	if err != nil {
		return nil, fmt.Errorf("serve the console: %w", err)
	}
	if v.library, err = preview.OpenShared(filepath.Join(o.StoreDir, consoleDir), o.Images, s.indexes.Limits, held{s}); err != nil {
		return nil, fmt.Errorf("serve the console: %w", err)
	}
	if v.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(c.Address, DefaultConsoleAddress)); err != nil {
		return nil, fmt.Errorf("serve the console: %w; choose another address with --%s", err, consoleAddress)
	}
	speak := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetConfigForClient: o.TLS.ForClients(v.serving.GetConfigForClient)}
	v.console, err = console.New(console.Options{Access: access, Hosts: c.hosts(v.listener.Addr()), TLS: speak, Idle: consoleIdle, Whole: consoleWhole, Library: v.library,
		GlobalNamespace: o.GlobalNamespace, Changes: v.changes.Follow, Log: lines, Clock: o.Clock})
	return v, err
}

// addTo makes the manager run the server.
func (v *consoleServer) addTo(mgr manager.Manager, servers *services) {
	if v == nil {
		return
	}
	v.mgr = mgr
	servers.Add(v)
}

// Start serves until the context ends.
func (v *consoleServer) Start(ctx context.Context) error {
	made := func(kind schema.GroupVersionKind) (client.Object, error) {
		object, err := v.mgr.GetScheme().New(kind)
		if err != nil {
			return nil, err
		}
		return object.(client.Object), nil
	}
	if err := v.changes.Watch(ctx, v.mgr.GetCache(), made); err != nil {
		return err
	}
	if files, ok := v.pair.(*dynamiccertificates.DynamicCertKeyPairContent); ok {
		go files.Run(ctx, 1)
	}
	go v.serving.Run(1, ctx.Done())
	go v.collect(ctx)
	v.log.Info("the console is served", "address", v.listener.Addr().String(), "hosts", v.console.Hosts)
	err := v.console.Serve(ctx, netutil.LimitListener(v.listener, consoleConnections))
	if err != nil {
		err = fmt.Errorf("serve the console at %s: %w", v.listener.Addr(), err)
	}
	return cmp.Or(err, v.library.Close())
}

// collect keeps what users have had pulled within its size, until the context ends.
func (v *consoleServer) collect(ctx context.Context) {
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		if err := v.library.Collect(ctx, consoleBytes); err != nil && ctx.Err() == nil {
			v.log.Error(err, "the images of the console may outgrow their size; retried later")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// held is the content that the manager serves, for users who may read its catalogs. What the signature policy withholds is not among it.
type held struct{ stores }

// ClusterCatalog implements preview.Held.
func (h held) ClusterCatalog(_ context.Context, name, digest string) *catalog.Index {
	return h.share(h.clusterCatalogs, snapshot.CatalogRef(name), digest)
}

// CatalogSource implements preview.Held.
func (h held) CatalogSource(_ context.Context, ref catalog.Ref) *catalog.Index {
	if x := h.share(h.catalogs, ref, ""); x != nil {
		return x
	}
	return h.share(h.standby, ref, "")
}

// share is the index of what is served, if it has a digest; an empty one is any. What users keep of it, such as the name of a package, keeps all texts of an index
// in memory: with one of their own each page that is kept would take megabytes.
func (h held) share(set *catalogstore.Set, ref catalog.Ref, digest string) *catalog.Index {
	entry, ok := set.Get(ref)
	if !ok || entry.Index == nil || digest != "" && entry.Index.Digest() != digest {
		return nil
	}
	return entry.Index.Shared()
}
