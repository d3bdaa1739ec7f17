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

	certs "fairlead.dev/fairlead/internal/rollout/serving"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of the objects of the manager's own serving certificate, in the namespace of its pod.
const (
	// ServingSecret holds the certificate of metrics, of ClusterCatalogs and of the console, where no files are given.
	ServingSecret = "fairlead-manager-serving-cert"
	// ServingCA is the ConfigMap with the CA bundle for it, at the key ca.crt.
	ServingCA = "fairlead-manager-serving-ca"
	// MetricsService is the name of the Service that leads to metrics.
	MetricsService = "fairlead-manager-metrics"
	// outsidePod is put before the names of both where the manager runs outside of a pod, so that it leaves those of an installed one alone.
	outsidePod = "outside-pod-"
)

// ownCertificate prepares the certificate that metrics, ClusterCatalogs and the console need where they are served over HTTPS without files of their own; nil
// where nothing needs one.
func ownCertificate(ctx context.Context, o Options) (*certs.Keeper, error) {
	catalogs := o.clusterWide() && o.CatalogHTTP.address() != noAddress && o.CatalogHTTP.secure() && o.CatalogHTTP.Certificate == ""
	metrics := o.MetricsAddress != "" && o.MetricsAddress != noAddress && !o.MetricsPlain && o.MetricsTLS.Certificate == ""
	console := o.Console.Enabled && o.Console.Certificate == ""
	if !catalogs && !metrics && !console {
		return nil, nil
	}
	c, err := client.New(unlimited(o.Config), client.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster for the serving certificate: %w", err)
	}
	home := cmp.Or(os.Getenv(podNamespaceVariable), o.PackageServer.Namespace, o.GlobalNamespace) // of what the manager keeps for itself
	prefix := outsidePod
	if os.Getenv(PodIPVariable) != "" {
		prefix = ""
	}
	keeper := certs.NewKeeper(certs.Options{Client: c, Namespace: home, Secret: prefix + ServingSecret, Name: "manager", Hosts: o.servingHosts(home),
		Clock: clock.RealClock{}, FieldManager: string(crdOwner), Log: o.Log.WithName("certificate")}, prefix+ServingCA)
	if err := keeper.Prepare(ctx); err != nil {
		return nil, fmt.Errorf("serve over HTTPS: %w; or give certificates by --tls-cert, --tls-key, --catalog-http-cert, --catalog-http-key, --console-tls-cert and --console-tls-key", err)
	}
	return keeper, nil
}

// servingHosts are the names and addresses that the certificate is for: those of the Services in a namespace, of this host for port-forwarding, and those
// that flags name.
func (o Options) servingHosts(namespace string) []string {
	var hosts []string
	services := []string{CatalogHTTPService, MetricsService}
	if o.Console.Enabled {
		services = append(services, ConsoleService)
	}
	for _, service := range services {
		short := service + "." + namespace + ".svc"
		hosts = append(hosts, short, short+".cluster.local")
	}
	hosts = append(hosts, "localhost", "127.0.0.1", "::1")
	for _, address := range []string{o.MetricsAddress, o.CatalogHTTP.Address} {
		host, _, err := net.SplitHostPort(address)
		if at, invalid := netip.ParseAddr(host); err == nil && host != "" && (invalid != nil || !at.IsUnspecified()) {
			hosts = append(hosts, host)
		}
	}
	if u, err := url.Parse(o.CatalogHTTP.withScheme(o.CatalogHTTP.URL)); err == nil && o.CatalogHTTP.URL != "" {
		hosts = append(hosts, u.Hostname())
	}
	if o.Console.Enabled {
		for _, host := range o.Console.Hosts {
			hosts = append(hosts, hostName(host))
		}
	}
	for i := range hosts {
		if at, err := netip.ParseAddr(hosts[i]); err == nil {
			hosts[i] = at.String()
		}
	}
	slices.Sort(hosts[1:])
	return slices.Compact(hosts)
}
