package manager

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"fairlead.dev/fairlead/internal/metrics"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

const (
	// DefaultCatalogHTTPAddress is where the contents of ClusterCatalogs are served when the manager runs in a pod that knows its address.
	DefaultCatalogHTTPAddress = ":8090"
	// CatalogHTTPService is the name of the Service that leads to it, in the namespace of the pods.
	CatalogHTTPService = "fairlead-catalogs"
	// maxCatalogURL leaves room for the longest name of a catalog in what status.urls.base may be.
	maxCatalogURL = 525 - len("/catalogs/") - 253
)

// CatalogHTTP says how the contents of ClusterCatalogs are served over HTTP.
type CatalogHTTP struct {
	// Address is host:port to listen on, "0" for not at all. Empty is DefaultCatalogHTTPAddress in a pod that knows its address, and a free
	// port on loopback elsewhere.
	Address string
	// URL, or HOST[:PORT], is where clients reach it. Empty is the Service CatalogHTTPService in a pod, and elsewhere where is listened.
	URL string
	// Certificate and Key are PEM files for HTTPS, which may change at any time. Where they are empty the manager serves a certificate of its
	// own, unless the address is on loopback.
	Certificate, Key string
	// Plain serves HTTP, at every address.
	Plain bool
}

// check tells what can never work. It reads nothing.
func (h CatalogHTTP) check() error {
	if (h.Certificate == "") != (h.Key == "") {
		return errors.New("serve ClusterCatalogs over TLS: --catalog-http-cert and --catalog-http-key go together; give both, or none")
	}
	if h.Plain && h.Certificate != "" {
		return errors.New("serve ClusterCatalogs: --catalog-http-plain is given with --catalog-http-cert, which is for HTTPS; leave out either")
	}
	if h.URL == "" {
		return nil
	}
	base := h.withScheme(h.URL)
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("serve ClusterCatalogs: the URL %q is of no use; give HOST[:PORT], or a URL with http or https", h.URL)
	}
	if h.secure() && u.Scheme == "http" && h.Certificate == "" {
		return fmt.Errorf("serve ClusterCatalogs: clients of %s expect HTTP, but HTTPS is served at %s; give a URL with https, or --catalog-http-plain", h.URL, h.address())
	}
	if len(base) > maxCatalogURL {
		return fmt.Errorf("serve ClusterCatalogs: the URL has %d bytes, which leaves no room for names of catalogs; give one of at most %d", len(base), maxCatalogURL)
	}
	return nil
}

// secure reports whether HTTPS is served. What is on loopback does not leave the host, and needs no certificate unless the URL says so.
func (h CatalogHTTP) secure() bool {
	if h.Certificate != "" || h.Plain {
		return h.Certificate != ""
	}
	if strings.HasPrefix(h.URL, "https://") {
		return true
	}
	host, _, err := net.SplitHostPort(h.address())
	if err != nil {
		return true
	}
	at, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !at.IsLoopback())
}

// withScheme is the URL of a host, or of a URL.
func (h CatalogHTTP) withScheme(base string) string {
	switch {
	case strings.Contains(base, "://"):
	case h.secure():
		base = "https://" + base
	default:
		base = "http://" + base
	}
	return strings.TrimRight(base, "/")
}

// address is where is listened; noAddress for nowhere.
func (h CatalogHTTP) address() string {
	if h.Address == "" && os.Getenv(PodIPVariable) == "" {
		return "127.0.0.1:0"
	}
	return cmp.Or(h.Address, DefaultCatalogHTTPAddress)
}

// url is where clients reach a server that listens at an address.
func (h CatalogHTTP) url(listening *net.TCPAddr) string {
	if h.URL != "" {
		return h.withScheme(h.URL)
	}
	if namespace := os.Getenv(podNamespaceVariable); namespace != "" && os.Getenv(PodIPVariable) != "" {
		return h.withScheme(CatalogHTTPService + "." + namespace + ".svc")
	}
	return h.withScheme(local(listening.AddrPort()).String())
}

// identity is the certificate of HTTPS; nil for HTTP. Changes of the files are followed, and own is served where there are none.
func (h CatalogHTTP) identity(own metrics.Certificate) (*dynamiccertificates.DynamicServingCertificateController, metrics.Certificate, error) {
	if !h.secure() {
		return nil, nil, nil
	}
	return servingIdentity("serve ClusterCatalogs over TLS", "catalogs", h.Certificate, h.Key, "--catalog-http-cert and --catalog-http-key, or --catalog-http-plain", own)
}

// servingIdentity is the certificate of a server over HTTPS: that of files, which are followed, and own where there are none.
func servingIdentity(what, name, certificate, key, flags string, own metrics.Certificate) (*dynamiccertificates.DynamicServingCertificateController, metrics.Certificate, error) {
	pair := own
	if certificate != "" {
		files, err := dynamiccertificates.NewDynamicServingContentFromFiles(name, certificate, key)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: use the certificate in %s and the key in %s: %w", what, certificate, key, err)
		}
		pair = files
	}
	if pair == nil {
		return nil, nil, fmt.Errorf("%s: there is no certificate; give %s", what, flags)
	}
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	serving := dynamiccertificates.NewDynamicServingCertificateController(base, nil, pair, nil, nil)
	pair.AddListener(serving)
	if err := serving.RunOnce(); err != nil {
		return nil, nil, fmt.Errorf("%s: use the certificate %s: %w", what, pair.Name(), err)
	}
	return serving, pair, nil
}
