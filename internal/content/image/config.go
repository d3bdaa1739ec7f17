package image

import "crypto/tls"

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

	// RegistriesConf is the registries.conf that names mirrors and blocked
	// registries. Empty means the places where container tools look.
	RegistriesConf string

	// Insecure lists the host[:port]s that may be reached over plain HTTP or
	// with a certificate that nobody vouches for. Loopback hosts always may.
	// AnyHost in the list stands for all.
	Insecure []string

	// TLS returns the configuration of one connection to a registry: versions,
	// cipher suites and key exchanges. Nil, or one that returns nil, leaves
	// them to the library.
	TLS func() *tls.Config

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
