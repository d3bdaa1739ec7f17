package preview

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/kubeconfig"

	"k8s.io/client-go/rest"
)

const (
	// maxContent is how much of a catalog is read, in bytes; the largest public ones have about 200 MB.
	maxContent = 2 << 30
	// maxComplaint is how much of what a server says is repeated in an error, in bytes.
	maxComplaint = 200
	// answerTime is how long a server may take to begin its answer.
	answerTime = 30 * time.Second
)

// Servers reaches the HTTP API of ClusterCatalogs. Services of the cluster are reached through its API server, which needs the right to
// get services/proxy in their namespace, and everything else directly.
type Servers struct {
	proxy  *url.URL // of the API server
	inside *http.Client
	direct *http.Client
}

// NewServers makes one for a cluster.
func NewServers(config *rest.Config) (*Servers, error) {
	inside, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	proxy, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	return &Servers{proxy: proxy, inside: inside, direct: &http.Client{Transport: transport}}, nil
}

// place is where to ask for a URL, and whether that is the API server.
func (s *Servers) place(u *url.URL) (*url.URL, bool) {
	service, ok := kubeconfig.ServiceOf(u.Hostname())
	if !ok {
		return u, false
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	at := s.proxy.JoinPath("api/v1/namespaces", service.Namespace, "services", u.Scheme+":"+service.Name+":"+port, "proxy", u.Path)
	at.RawQuery = u.RawQuery
	return at, true
}

// get asks for a path below the base of a catalog. The caller closes the body.
func (s *Servers) get(ctx context.Context, base, path string, query url.Values) (io.ReadCloser, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("status.urls.base: %w", err)
	}
	u = u.JoinPath(path)
	u.RawQuery = query.Encode()
	at, inside := s.place(u)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	c := s.direct
	if inside {
		c = s.inside
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", u, err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxComplaint)) // as far as it can be had
	response.Body.Close()
	return nil, &answerError{url: u.String(), status: response.StatusCode, said: strings.TrimSpace(string(said)), proxied: inside}
}

// answerError is what a server said instead of an answer.
type answerError struct {
	url     string
	status  int
	said    string
	proxied bool
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("read %s: %d %s: %s", e.url, e.status, http.StatusText(e.status), e.said)
	if e.proxied && e.status == http.StatusForbidden {
		text += "; it is read through the API server, which needs the right to get services/proxy there"
	}
	return text
}

// Catalog reads what a catalog has of one package. What is wrong with its other packages is not seen.
func (s *Servers) Catalog(ctx context.Context, base, pkg string) (*catalog.Index, error) {
	var parts []io.Reader
	for _, query := range []url.Values{{"schema": {"olm.package"}, "name": {pkg}}, {"package": {pkg}}} {
		body, err := s.get(ctx, base, "api/v1/metas", query)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		parts = append(parts, body)
	}
	c, err := catalog.LoadFile(ctx, base, io.LimitReader(io.MultiReader(parts...), maxContent), catalog.LoadOptions{})
	var invalid *catalog.InvalidError
	if err != nil && !errors.As(err, &invalid) { // what can be read is served
		return nil, fmt.Errorf("read package %s from %s: %w", pkg, base, err)
	}
	return catalog.NewIndex(c, "")
}

// icon reads the picture of a PackageManifest. The server of PackageManifests has one for those without, which has no tag: that is none.
func (s *Servers) icon(ctx context.Context, namespace, pkg string) (*Icon, error) {
	if err := errors.Join(Check("namespace", namespace), Check("package", pkg)); err != nil { // they become parts of a path
		return nil, fmt.Errorf("read the icon of a package: %w", err)
	}
	at := s.proxy.JoinPath("apis", packagesv1.GroupVersion.Group, packagesv1.GroupVersion.Version, "namespaces", namespace, "packagemanifests", pkg, "icon")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := s.inside.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the icon of package %s: %w", pkg, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxIcon+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the icon of package %s: %w", pkg, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("read the icon of package %s: the API server answers %s", pkg, response.Status)
	case response.Header.Get("Etag") == "" || len(data) > maxIcon || len(data) == 0:
		return nil, nil
	}
	return &Icon{MediaType: response.Header.Get("Content-Type"), Data: data}, nil
}

// whole is a catalog as a server has it, whose content a digest identifies.
type whole struct {
	servers      *Servers
	base, digest string
}

// Write writes the catalog. Without a digest that of what was written is told.
func (w whole) Write(ctx context.Context, out io.Writer) (string, error) {
	body, err := w.servers.get(ctx, w.base, "api/v1/all", nil)
	if err != nil {
		return "", err
	}
	defer body.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(body, maxContent+1))
	if err == nil && n > maxContent {
		err = fmt.Errorf("it has more than %d MB, which is more than is read", maxContent>>20)
	}
	if err != nil {
		return "", fmt.Errorf("read the catalog at %s: %w", w.base, err)
	}
	return cmp.Or(w.digest, fmt.Sprintf("sha256:%x", sum.Sum(nil))), nil
}
