package manager

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"fairlead.dev/fairlead/internal/console"

	"github.com/spf13/pflag"
)

const (
	// DefaultConsoleAddress is where the console is served when it is.
	DefaultConsoleAddress = ":9443"
	// ConsoleService is the name of the Service that leads to it, in the namespace of the pods.
	ConsoleService = "fairlead-console"
)

// Console says whether and how the web console is served: always over HTTPS, to users who prove to the API server who they are.
type Console struct {
	// Enabled serves it. Otherwise nothing else may be set.
	Enabled bool
	// Address is host:port to listen on; DefaultConsoleAddress when empty.
	Address string
	// Hosts are the names by which browsers reach it, HOST[:PORT], besides those of the Service and of loopback.
	Hosts []string
	// Certificate and Key are PEM files, which may change at any time. Where they are empty the manager serves a certificate of its own.
	Certificate, Key string
	// OIDC is where users log in; empty where they bring a token.
	OIDC ConsoleOIDC
}

// ConsoleOIDC is an OpenID Connect provider whose ID tokens the API server accepts.
type ConsoleOIDC struct {
	Issuer, ClientID, ClientSecretFile, CAFile string
	Scopes                                     []string
}

// Names of the flags of the console, which errors repeat.
const (
	consoleFlag       = "console"
	consoleAddress    = "console-address"
	consoleHost       = "console-host"
	consoleCert       = "console-tls-cert"
	consoleKey        = "console-tls-key"
	consoleIssuer     = "console-oidc-issuer"
	consoleClient     = "console-oidc-client-id"
	consoleSecretFile = "console-oidc-client-secret-file"
	consoleCAFile     = "console-oidc-ca-file"
	consoleScopes     = "console-oidc-scopes"
)

// addConsoleFlags adds the flags of the console.
func addConsoleFlags(flags *pflag.FlagSet, c *Console) {
	flags.BoolVar(&c.Enabled, consoleFlag, false, "serve the web console over HTTPS, to users who log in with a token of the cluster or by OpenID Connect, with their rights")
	flags.StringVar(&c.Address, consoleAddress, "", "host:port to serve the console on (default: "+DefaultConsoleAddress+")")
	flags.StringSliceVar(&c.Hosts, consoleHost, nil, "HOST[:PORT] by which browsers reach the console, as their address bar shows it; others are refused (default: Service "+ConsoleService+" in the namespace of the pod, and localhost with the port of console-address)")
	flags.StringVar(&c.Certificate, consoleCert, "", "PEM file with the certificate of the console; followed when it changes (default: one of the manager's own, whose CA bundle is in ConfigMap "+ServingCA+")")
	flags.StringVar(&c.Key, consoleKey, "", "PEM file with the key of console-tls-cert")
	flags.StringVar(&c.OIDC.Issuer, consoleIssuer, "", "https:// URL of the OpenID Connect provider where users log in, whose ID tokens the API server accepts (default: users paste a token)")
	flags.StringVar(&c.OIDC.ClientID, consoleClient, "", "ID of the console at console-oidc-issuer, which the API server accepts as audience")
	flags.StringVar(&c.OIDC.ClientSecretFile, consoleSecretFile, "", "file with the secret of the console at console-oidc-issuer (default: it is a public client)")
	flags.StringVar(&c.OIDC.CAFile, consoleCAFile, "", "PEM file with the CA bundle of console-oidc-issuer (default: that of the system)")
	flags.StringSliceVar(&c.OIDC.Scopes, consoleScopes, nil, "scopes that are asked for besides openid, such as email,groups; with offline_access sessions are renewed")
}

// check tells what can never work. It reads nothing.
func (c Console) check() error {
	given := map[string]string{consoleAddress: c.Address, consoleHost: strings.Join(c.Hosts, ","), consoleCert: c.Certificate, consoleKey: c.Key, consoleIssuer: c.OIDC.Issuer, consoleClient: c.OIDC.ClientID,
		consoleSecretFile: c.OIDC.ClientSecretFile, consoleCAFile: c.OIDC.CAFile, consoleScopes: strings.Join(c.OIDC.Scopes, ",")}
	for _, name := range []string{consoleAddress, consoleHost, consoleCert, consoleKey, consoleIssuer, consoleClient, consoleSecretFile, consoleCAFile, consoleScopes} {
		if given[name] != "" && !c.Enabled {
			return fmt.Errorf("serve the console: --%s is given without --console, which serves it; add --console, or leave it out", name)
		}
	}
	if c.Address != "" {
		if _, port, err := net.SplitHostPort(c.Address); err != nil || port == "" {
			return fmt.Errorf("serve the console: --%s %q is no address; give HOST:PORT, or :PORT", consoleAddress, c.Address)
		}
	}
	if (c.Certificate == "") != (c.Key == "") {
		return fmt.Errorf("serve the console: --%s and --%s go together; give both, or none", consoleCert, consoleKey)
	}
	for _, host := range c.Hosts {
		if u, err := url.Parse("https://" + host); err != nil || u.Host != host || u.Hostname() == "" || strings.ContainsAny(host, "*@ ") {
			return fmt.Errorf("serve the console: --%s %q is no host; give HOST or HOST:PORT, as the address bar of a browser shows it, without https://", consoleHost, host)
		}
	}
	for _, name := range []string{consoleClient, consoleSecretFile, consoleCAFile, consoleScopes} {
		if given[name] != "" && c.OIDC.Issuer == "" {
			return fmt.Errorf("serve the console: --%s is given without --%s, where users would log in; give both, or none", name, consoleIssuer)
		}
	}
	if c.OIDC.Issuer == "" {
		return nil
	}
	if err := (console.OIDC{Issuer: c.OIDC.Issuer, ClientID: c.OIDC.ClientID}).Check(); err != nil {
		return fmt.Errorf("serve the console: --%s and --%s: %w", consoleIssuer, consoleClient, err)
	}
	return nil
}

// provider is where users log in, with what its files hold; nil for nowhere.
func (c Console) provider() (*console.OIDC, error) {
	if c.OIDC.Issuer == "" {
		return nil, nil
	}
	o := &console.OIDC{Issuer: c.OIDC.Issuer, ClientID: c.OIDC.ClientID, Scopes: c.OIDC.Scopes}
	if file := c.OIDC.CAFile; file != "" {
		var err error
		if o.CA, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("serve the console: read the CA bundle of --%s: %w", consoleCAFile, err)
		}
	}
	if file := c.OIDC.ClientSecretFile; file != "" {
		o.Secret = func() (string, error) { // each time: it may be exchanged
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if secret := strings.TrimSpace(string(text)); secret != "" {
				return secret, nil
			}
			return "", errors.New("the file is empty")
		}
		if _, err := o.Secret(); err != nil {
			return nil, fmt.Errorf("serve the console: read the secret of --%s: %w", consoleSecretFile, err)
		}
	}
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("serve the console: --%s, --%s: %w", consoleIssuer, consoleCAFile, err)
	}
	return o, nil
}

// hosts are the names by which browsers may reach a console that listens at an address.
func (c Console) hosts(listening net.Addr) []string {
	hosts := append(console.Loopback(listening), c.Hosts...)
	if namespace := os.Getenv(podNamespaceVariable); namespace != "" {
		short := ConsoleService + "." + namespace + ".svc"
		hosts = append(hosts, short, short+".cluster.local")
	}
	return hosts
}

// hostName is a host without its port.
func hostName(host string) string {
	u, err := url.Parse("https://" + host)
	if err != nil {
		return host
	}
	return u.Hostname()
}
