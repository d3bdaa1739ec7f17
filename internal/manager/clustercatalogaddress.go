package manager

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"fairlead.dev/fairlead/internal/tlsprofile"

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
	// Certificate and Key are PEM files for HTTPS, which may change at any time; empty for HTTP.
	Certificate, Key string
}

// check tells what can never work. It reads nothing.
func (h CatalogHTTP) check() error {
	if (h.Certificate == "") != (h.Key == "") {
		return errors.New("serve ClusterCatalogs over TLS: --catalog-http-cert and --catalog-http-key go together; give both, or none")
	}
	if h.URL == "" {
		return nil
	}
	u, err := url.Parse(h.withScheme())
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("serve ClusterCatalogs: the URL %q is of no use; give HOST[:PORT], or a URL with http or https", h.URL)
	}
	if len(h.withScheme()) > maxCatalogURL {
		return fmt.Errorf("serve ClusterCatalogs: the URL has %d bytes, which leaves no room for names of catalogs; give one of at most %d", len(h.withScheme()), maxCatalogURL)
	}
	return nil
}

func (h CatalogHTTP) scheme() string {
	if h.Certificate != "" {
		return "https://"
	}
	return "http://"
}

func (h CatalogHTTP) withScheme() string {
	base := h.URL
	if !strings.Contains(base, "://") {
		base = h.scheme() + base
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
		return h.withScheme()
	}
	if namespace := os.Getenv(podNamespaceVariable); namespace != "" && os.Getenv(PodIPVariable) != "" {
		return h.scheme() + CatalogHTTPService + "." + namespace + ".svc"
	}
	return h.scheme() + local(listening.AddrPort()).String()
}

// identity is what HTTPS shows to clients; nil for HTTP. What is written to the files is taken over.
func (h CatalogHTTP) identity(profile tlsprofile.Profile) (*dynamiccertificates.DynamicServingCertificateController, *dynamiccertificates.DynamicCertKeyPairContent, error) {
	if h.Certificate == "" {
		return nil, nil, nil
	}
	pair, err := dynamiccertificates.NewDynamicServingContentFromFiles("catalogs", h.Certificate, h.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("serve ClusterCatalogs over TLS: use the certificate in %s and the key in %s: %w", h.Certificate, h.Key, err)
	}
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	profile.Apply(base)
	serving := dynamiccertificates.NewDynamicServingCertificateController(base, nil, pair, nil, nil)
	pair.AddListener(serving)
	if err := serving.RunOnce(); err != nil {
		return nil, nil, fmt.Errorf("serve ClusterCatalogs over TLS: use %s and %s: %w", h.Certificate, h.Key, err)
	}
	return serving, pair, nil
}
