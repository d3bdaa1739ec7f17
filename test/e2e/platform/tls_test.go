package platform

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	telemetry "fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// TestServersFollowTheTLSProfile: the manager, with its shipped rights, runs before the kind is there and does not lead. Its servers of metrics,
// ClusterCatalogs and packages follow the object, ignore one that is invalid, and return to the default when it goes; those of a manager with a
// flag do not.
func TestServersFollowTheTLSProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := &world{t, harness.Client(t, devcluster.Config())}
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, "../../../config"))
	embedded := must.Value(devcluster.Connect(filepath.Dir(devcluster.Kubeconfig())))(w)
	issued := must.Value(serving.Issue(serving.Request{Hosts: []string{"localhost"}, Now: time.Now()}))(w)
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	must.NoError(w, errors.Join(os.WriteFile(certificate, issued.Certificate, 0o600), os.WriteFile(key, issued.Key, 0o600)))
	options := func(c platform.Choice) (manager.Options, []string) {
		source := must.Value(c.Source())(w)
		metrics, catalogs := harness.FreeAddress(t), harness.FreeAddress(t)
		return manager.Options{Config: harness.AsManager(t, devcluster.Config()), TLS: source, Log: harness.Log(t), LeaderElection: true, LeaderNamespace: "olm",
			MetricsAddress: metrics, MetricsTLS: telemetry.Files{Certificate: certificate, Key: key},
			CatalogHTTP: manager.CatalogHTTP{Address: catalogs, Certificate: certificate, Key: key}}, []string{metrics, catalogs}
	}
	fixed, explicit := options(platform.Choice{Name: platform.Old})
	harness.Run(t, fixed) // it leads
	following, followers := options(platform.Choice{})
	packages := harness.FreeAddress(t)
	following.PackageServer = manager.PackageServer{Address: packages, Route: func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return embedded.Expose(ctx, local)
	}}
	followers = append(followers, packages)
	harness.Run(t, following)
	w.speaks(tls.VersionTLS12, true, followers...)
	w.speaks(tls.VersionTLS11, true, explicit...)

	w.definitions()
	cluster := config("APIServer", "cluster")
	cluster.Object["spec"] = map[string]any{"tlsSecurityProfile": map[string]any{"type": "Modern", "modern": map[string]any{}}}
	w.make(cluster)
	w.speaks(tls.VersionTLS12, false, followers...)
	w.speaks(tls.VersionTLS13, true, followers...)
	w.security(`{"type":"Strict"}`)
	time.Sleep(300 * time.Millisecond) // a change that must not come
	w.speaks(tls.VersionTLS12, false, followers...)
	w.security(`{"type":"Custom","custom":{"minTLSVersion":"VersionTLS11","ciphers":["ECDHE-ECDSA-AES128-SHA","ECDHE-RSA-AES128-SHA"]}}`)
	w.speaks(tls.VersionTLS11, true, followers...)
	must.NoError(w, w.Delete(t.Context(), cluster))
	w.speaks(tls.VersionTLS11, false, followers...)
	w.speaks(tls.VersionTLS12, true, followers...)
	w.speaks(tls.VersionTLS11, true, explicit...)
}

// security changes the profile of the cluster.
func (w *world) security(profile string) {
	w.Helper()
	must.NoError(w, w.Patch(w.Context(), config("APIServer", "cluster"), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"tlsSecurityProfile":`+profile+`}}`))))
}

// speaks waits until all servers accept a version of TLS, or refuse it.
func (w *world) speaks(version uint16, accepted bool, servers ...string) {
	w.Helper()
	for _, at := range servers {
		must.Eventually(w, fmt.Sprintf("%s to be accepted: %t, at %s", tls.VersionName(version), accepted, at), func() error {
			conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: version})
			if err == nil {
				err = conn.Close()
			}
			switch {
			case accepted:
				return err
			case err == nil:
				return errors.New("it is accepted")
			case !strings.Contains(err.Error(), "tls: protocol version"):
				return fmt.Errorf("it is not refused: %w", err)
			}
			return nil
		})
	}
}
