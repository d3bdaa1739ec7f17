package image

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/types"
)

// Config says how registries are reached. Its zero value works: the host's
// registries.conf, certs.d and auth files are honoured when they exist, and
// none of them is needed.
type Config struct {
	// CertsDir is laid out like certs.d: a folder for each host[:port] with
	// *.crt (CAs), *.cert and *.key (client certificate). Files directly in
	// CertsDir hold for every host that has no folder of its own. Empty means
	// the places where container tools look, such as /etc/containers/certs.d.
	CertsDir string

	// AuthFile is the credentials file to use for images whose Auth has no
	// entry. Empty means the places where container tools look, such as
	// $REGISTRY_AUTH_FILE and ~/.docker/config.json.
	AuthFile string

	// Anonymous uses the credentials of Auth and no others: neither files of
	// credentials nor client certificates of this host.
	Anonymous bool

	// RegistriesConf is the registries.conf that names mirrors and blocked
	// registries. Empty means the places where container tools look.
	RegistriesConf string

	// Insecure lists the host[:port]s that may be reached over plain HTTP or
	// with a certificate that no one vouches for. Loopback hosts always may.
	// AnyHost in the list stands for all.
	Insecure []string

	// TLS returns the configuration of one connection to a registry: versions,
	// cipher suites and key exchanges. Nil, or one that returns nil, leaves
	// them to the library.
	TLS func() *tls.Config

	// Proxy returns the proxy for a request to a registry; nil is for the
	// proxies that the environment names.
	Proxy func(*url.URL) (*url.URL, error)

	// Retries is how many more times to try what fails for a reason that may
	// pass by itself, such as 429 or 503, after pauses of one second, two, four
	// and so on. Zero suits who tries again later anyway.
	Retries int

	// Architecture is preferred when an image is offered for several
	// platforms. Empty means the one this program runs on.
	Architecture string

	// Verifier, when set, decides before each use of an image whether it may be
	// used.
	Verifier Verifier
}

// AnyHost in Config.Insecure stands for all hosts.
const AnyHost = "*"

// Auth carries the credentials of one request.
type Auth struct {
	// DockerConfig holds credential documents as pull secrets carry them:
	// .dockerconfigjson, or the older .dockercfg. Where two documents have
	// credentials for the same repository the later one wins.
	DockerConfig [][]byte
}

// elsewhere says that pull secrets name a program that has the credentials for
// a repository, instead of the credentials; empty when they have some, or do
// not speak of the repository. Such programs belong to a user's workstation,
// and are never run for a secret.
func (a Auth) elsewhere(own credentials, named reference.Named) string {
	if auth, ok := own.lookup(named); ok && auth != (types.DockerAuthConfig{}) {
		return ""
	}
	for i, document := range a.DockerConfig {
		var config struct {
			Store   string            `json:"credsStore"`
			Helpers map[string]string `json:"credHelpers"`
		}
		if json.Unmarshal(document, &config) != nil {
			continue
		}
		var hosts []string
		for host := range config.Helpers {
			if covers(normaliseKey(host), named) {
				hosts = append(hosts, host)
			}
		}
		const text = "pull secret %d has no credentials for %s, but the name of a program that has them, %s %q, which is not run"
		if len(hosts) > 0 {
			helper := config.Helpers[slices.Max(hosts)]
			return fmt.Sprintf(text, i+1, reference.Domain(named), "credHelpers", steady(helper))
		}
		if config.Store != "" {
			return fmt.Sprintf(text, i+1, reference.Domain(named), "credsStore", steady(config.Store))
		}
	}
	return ""
}

// explain adds to a refusal what the pull secrets lack.
func (e endpoint) explain(err error) error {
	var refused *Error
	if e.elsewhere == "" || !errors.As(err, &refused) || refused.Kind != Unauthorized {
		return err
	}
	more := *refused
	more.Reason += "; " + e.elsewhere
	more.Advice = "put the user and the password into the secret: `kubectl create secret docker-registry NAME --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`"
	return &more
}
