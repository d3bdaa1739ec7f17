package manager

import (
	"net"
	"strings"
	"testing"
)

func TestWhereClusterCatalogsAreServed(t *testing.T) {
	for name, test := range map[string]struct {
		http        CatalogHTTP
		pod         bool
		address     string
		url         string
		complaining string
	}{
		"outside of a pod":       {address: "127.0.0.1:0", url: "http://127.0.0.1:4711"},
		"everywhere":             {http: CatalogHTTP{Address: ":8090"}, address: ":8090", url: "https://127.0.0.1:4711"},
		"everywhere, plain":      {http: CatalogHTTP{Address: ":8090", Plain: true}, address: ":8090", url: "http://127.0.0.1:4711"},
		"on loopback":            {http: CatalogHTTP{Address: "localhost:8090"}, address: "localhost:8090", url: "http://127.0.0.1:4711"},
		"in a pod":               {pod: true, address: ":8090", url: "https://fairlead-catalogs.olm.svc"},
		"in a pod, plain":        {http: CatalogHTTP{Plain: true}, pod: true, address: ":8090", url: "http://fairlead-catalogs.olm.svc"},
		"plain, a certificate":   {http: CatalogHTTP{Plain: true, Certificate: "c", Key: "k"}, complaining: "--catalog-http-plain"},
		"an HTTP URL in a pod":   {http: CatalogHTTP{URL: "http://catalogs.example.com"}, pod: true, complaining: "--catalog-http-plain"},
		"in a pod, with TLS":     {http: CatalogHTTP{Certificate: "c", Key: "k"}, pod: true, address: ":8090", url: "https://fairlead-catalogs.olm.svc"},
		"not at all":             {http: CatalogHTTP{Address: "0"}, address: "0", url: "https://127.0.0.1:4711"},
		"a host":                 {http: CatalogHTTP{URL: "catalogs.example.com:81"}, pod: true, address: ":8090", url: "https://catalogs.example.com:81"},
		"a URL":                  {http: CatalogHTTP{URL: "https://catalogs.example.com/olm/"}, address: "127.0.0.1:0", url: "https://catalogs.example.com/olm"},
		"a certificate, no key":  {http: CatalogHTTP{Certificate: "c"}, complaining: "--catalog-http-key"},
		"another scheme":         {http: CatalogHTTP{URL: "ftp://a"}, complaining: "http or https"},
		"no host":                {http: CatalogHTTP{URL: "http://"}, complaining: "http or https"},
		"a query":                {http: CatalogHTTP{URL: "http://a?b"}, complaining: "http or https"},
		"too long for a catalog": {http: CatalogHTTP{URL: strings.Repeat("a", 300)}, complaining: "leaves no room"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(PodIPVariable, "")
			if test.pod {
				t.Setenv(PodIPVariable, "10.1.2.3")
				t.Setenv(podNamespaceVariable, "olm")
			}
			err := test.http.check()
			if test.complaining != "" {
				if err == nil || !strings.Contains(err.Error(), test.complaining) {
					t.Errorf("got %v", err)
				}
				return
			}
			at := net.IPv4zero
			if !strings.HasPrefix(test.address, ":") {
				at = net.IPv4(127, 0, 0, 1)
			}
			if got, url := test.http.address(), test.http.url(&net.TCPAddr{IP: at.To4(), Port: 4711}); err != nil || got != test.address || url != test.url {
				t.Errorf("listens at %q, is reached at %q: %v", got, url, err)
			}
		})
	}
}
