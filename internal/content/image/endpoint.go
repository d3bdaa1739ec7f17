package image

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/pkg/docker/config"
	"go.podman.io/image/v5/pkg/sysregistriesv2"
	"go.podman.io/image/v5/types"
)

// endpoint is one place where an image can be read: a mirror or its source.
type endpoint struct {
	named reference.Named // what to ask that place for
	sys   *types.SystemContext

	identity  string // of the credentials, for what is remembered of access
	elsewhere string // what the pull secrets have instead of credentials
}

// host returns the host[:port] of the endpoint.
func (e endpoint) host() string { return reference.Domain(e.named) }

// endpoints lists where to read named, mirrors first, as registries.conf says.
// The file is read each time, so that an edit holds from the next request on.
func (c Config) endpoints(named reference.Named, auth Auth) ([]endpoint, error) {
	secrets, err := parseAuth(auth)
	if err != nil {
		return nil, err
	}
	sysregistriesv2.InvalidateCache()
	registry, err := sysregistriesv2.FindRegistry(c.registriesContext(), named.Name())
	if err != nil {
		return nil, configurationError("registries.conf cannot be used: %v", err)
	}
	sources := []sysregistriesv2.PullSource{{Reference: named}}
	if registry != nil {
		if registry.Blocked {
			return nil, configurationError("registries.conf blocks %s", registry.Prefix)
		}
		if sources, err = registry.PullSourcesFromReference(named); err != nil {
			return nil, configurationError("registries.conf cannot be applied: %v", err)
		}
	}
	endpoints := make([]endpoint, 0, len(sources))
	for _, source := range sources {
		if proxy := source.Endpoint.NamespaceProxy; proxy != "" {
			return nil, configurationError("registries.conf asks for namespace-proxy %q, which is not supported; name the mirror by its location", proxy)
		}
		sys, err := c.systemContext(source.Reference, source.Endpoint.Insecure, secrets)
		if err != nil {
			return nil, err
		}
		// The identity tells the credentials for a repository apart, for this process only.
		identity := hostIdentity
		if own, ok := secrets.lookup(source.Reference); ok {
			data, err := json.Marshal(own)
			if err != nil {
				return nil, err
			}
			identity = string(data)
		}
		endpoints = append(endpoints, endpoint{named: source.Reference, sys: sys, identity: identity, elsewhere: auth.elsewhere(secrets, source.Reference)})
	}
	return endpoints, nil
}

// configurationError is for trouble with files of the host: access is refused
// by them, not by a registry.
func configurationError(format string, args ...any) error {
	e := problem(Unauthorized, format, args...)
	e.Reason, e.Advice = steady(e.Reason), "correct the configuration of the host that pulls"
	return e
}

// registriesContext says where registries.conf and auth files are.
func (c Config) registriesContext() *types.SystemContext {
	sys := &types.SystemContext{AuthFilePath: cmp.Or(c.AuthFile, os.Getenv("REGISTRY_AUTH_FILE"))}
	if c.RegistriesConf != "" {
		sys.SystemRegistriesConfPath = c.RegistriesConf
		sys.SystemRegistriesConfDirPath = c.RegistriesConf + ".d"
	}
	return sys
}

// systemContext configures the transport for exactly one endpoint. It sees no
// registries.conf, which has been applied already.
func (c Config) systemContext(named reference.Named, insecure bool, secrets credentials) (*types.SystemContext, error) {
	auth, ok := secrets.lookup(named)
	if !ok && !c.Anonymous {
		var err error
		if auth, err = config.GetCredentialsForRef(c.registriesContext(), named); err != nil {
			return nil, configurationError("the auth file cannot be used: %v", err)
		}
	}
	host := reference.Domain(named)
	insecure = insecure || isLoopback(host) || slices.Contains(c.Insecure, host) || slices.Contains(c.Insecure, AnyHost)
	sys := &types.SystemContext{
		DockerAuthConfig:            &auth,
		DockerInsecureSkipTLSVerify: types.NewOptionalBool(insecure),
		DockerRegistryUserAgent:     "fairlead",
		SystemRegistriesConfPath:    os.DevNull,
		SystemRegistriesConfDirPath: os.DevNull + ".d", // no such directory
		DockerCertPath:              c.certDir(host),
		DockerProxy:                 c.Proxy,
	}
	if c.TLS != nil {
		sys.BaseTLSConfig = c.TLS()
	}
	if c.Anonymous && sys.DockerCertPath != "" {
		if err := onlyCAs(sys); err != nil {
			return nil, configurationError("the CA certificates of %s cannot be used: %v", host, err)
		}
	}
	return sys, nil
}

// onlyCAs replaces the folder of certificates by the CA certificates in it, so
// that no client certificate is used.
func onlyCAs(sys *types.SystemContext) error {
	files, err := filepath.Glob(filepath.Join(sys.DockerCertPath, "*.crt"))
	if err != nil {
		return err
	}
	sys.DockerCertPath = os.DevNull + ".d" // no such directory
	base := &tls.Config{}
	if sys.BaseTLSConfig != nil {
		base = sys.BaseTLSConfig.Clone()
	}
	if base.RootCAs, err = x509.SystemCertPool(); err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		base.RootCAs.AppendCertsFromPEM(data)
	}
	sys.BaseTLSConfig = base
	return nil
}

func isLoopback(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// certDir returns the folder with the certificates for host, "" when there is
// none.
func (c Config) certDir(host string) string {
	if c.CertsDir == "" {
		// Where container tools look for certificates
		dirs := []string{"/etc/containers/certs.d", "/usr/share/containers/certs.d", "/etc/docker/certs.d"}
		config := os.Getenv("XDG_CONFIG_HOME")
		if home, err := os.UserHomeDir(); config == "" && err == nil {
			config = filepath.Join(home, ".config")
		}
		if config != "" {
			dirs = append([]string{filepath.Join(config, "containers/certs.d")}, dirs...)
		}
		return firstDir(host, dirs...)
	}
	if own := firstDir(host, c.CertsDir); own != "" {
		return own
	}
	if files, _ := filepath.Glob(filepath.Join(c.CertsDir, "*.crt")); len(files) > 0 {
		return c.CertsDir
	}
	return ""
}

// firstDir returns the first directory of that name.
func firstDir(name string, parents ...string) string {
	for _, parent := range parents {
		dir := filepath.Join(parent, name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

// first tries the endpoints in order until one serves. The error names what
// each of them said; its kind is that of the last, the source itself.
func first[T any](ctx context.Context, endpoints []endpoint, try func(endpoint) (T, error)) (T, error) {
	var zero T
	var failures []string
	for i, e := range endpoints {
		result, err := try(e)
		if err == nil {
			return result, nil
		}
		if ctx.Err() != nil || KindOf(err) == "" || KindOf(err) == LimitExceeded {
			return zero, err
		}
		err = e.explain(err)
		if i < len(endpoints)-1 {
			failures = append(failures, "mirror "+e.host()+": "+reasonOf(err))
			continue
		}
		var source *Error
		if len(failures) == 0 || !errors.As(err, &source) {
			return zero, err
		}
		all := *source
		all.Reason = strings.Join(append(failures, "source: "+source.Reason), "; ")
		return zero, &all
	}
	return zero, problem(InvalidReference, "there is no place to read it from")
}
