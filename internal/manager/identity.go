package manager

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"

	telemetry "fairlead.dev/fairlead/internal/metrics"
	certs "fairlead.dev/fairlead/internal/rollout/serving"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Names of the objects of the manager's own serving certificate, in the namespace of its pod.
const (
	// ServingSecret holds the certificate of metrics and of ClusterCatalogs, where no files are given.
	ServingSecret = "fairlead-manager-serving-cert"
	// ServingCA is the ConfigMap with the CA bundle for it, at the key ca.crt.
	ServingCA = "fairlead-manager-serving-ca"
	// MetricsService is the name of the Service that leads to metrics.
	MetricsService = "fairlead-manager-metrics"
	// outsidePod is put before the names of both where the manager runs outside of a pod, so that it leaves those of an installed one alone.
	outsidePod = "outside-pod-"
)

// identity is the serving certificate of the manager's own; nil where nothing needs one.
type identity struct{ keeper *certs.Keeper }

// ownCertificate prepares the certificate that metrics and ClusterCatalogs need where they are served over HTTPS without files of their own.
func ownCertificate(ctx context.Context, o Options) (*identity, error) {
	catalogs := o.clusterWide() && o.CatalogHTTP.address() != noAddress && o.CatalogHTTP.secure() && o.CatalogHTTP.Certificate == ""
	metrics := o.MetricsAddress != "" && o.MetricsAddress != noAddress && !o.MetricsPlain && o.MetricsTLS.Certificate == ""
	if !catalogs && !metrics {
		return nil, nil
	}
	c, err := client.New(unlimited(o.Config), client.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster for the serving certificate: %w", err)
	}
	prefix := outsidePod
	if os.Getenv(PodIPVariable) != "" {
		prefix = ""
	}
	keeper := certs.NewKeeper(certs.Options{Client: c, Namespace: o.home(), Secret: prefix + ServingSecret, Name: "manager", Hosts: o.servingHosts(),
		Clock: clock.RealClock{}, FieldManager: string(crdOwner), Log: o.Log.WithName("certificate")}, prefix+ServingCA)
	if err := keeper.Prepare(ctx); err != nil {
		return nil, fmt.Errorf("serve over HTTPS: %w; or give certificates by --tls-cert, --tls-key, --catalog-http-cert and --catalog-http-key", err)
	}
	return &identity{keeper: keeper}, nil
}

// home is the namespace of what the manager keeps for itself.
func (o Options) home() string {
	return cmp.Or(os.Getenv(podNamespaceVariable), o.PackageServer.Namespace, o.GlobalNamespace)
}

// servingHosts are the names and addresses that the certificate is for: those of the Services, of this host for port-forwarding, and those
// that flags name.
func (o Options) servingHosts() []string {
	var hosts []string
	for _, service := range []string{CatalogHTTPService, MetricsService} {
		short := service + "." + o.home() + ".svc"
		hosts = append(hosts, short, short+".cluster.local")
	}
	hosts = append(hosts, "localhost", "127.0.0.1", "::1")
	for _, address := range []string{o.MetricsAddress, o.CatalogHTTP.Address} {
		host, _, err := net.SplitHostPort(address)
		if at, invalid := netip.ParseAddr(host); err == nil && host != "" && (invalid != nil || !at.IsUnspecified()) {
			hosts = append(hosts, host)
		}
	}
	if u, err := url.Parse(o.CatalogHTTP.withScheme()); err == nil && o.CatalogHTTP.URL != "" {
		hosts = append(hosts, u.Hostname())
	}
	for i := range hosts {
		if at, err := netip.ParseAddr(hosts[i]); err == nil {
			hosts[i] = at.String()
		}
	}
	slices.Sort(hosts[1:])
	return slices.Compact(hosts)
}

// certificate is what servers serve; nil where nothing needs one.
func (i *identity) certificate() telemetry.Certificate {
	if i == nil {
		return nil
	}
	return i.keeper.Provider()
}

// addTo makes the manager renew the certificate.
func (i *identity) addTo(mgr manager.Manager) error {
	if i == nil {
		return nil
	}
	return mgr.Add(i.keeper)
}
