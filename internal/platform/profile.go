package platform

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The names of profiles. They are those that Mozilla recommends to operators of servers; custom is what the other fields of a Choice say.
const (
	Modern       = "modern"
	Intermediate = "intermediate"
	Old          = "old"
	Custom       = "custom"
)

// Choice is what flags say. The zero value is the profile intermediate.
type Choice struct {
	// Name of the profile.
	Name string
	// Version, Ciphers and Curves are those of the profile custom, and of no other: the lowest version, as TLSv1.2, the cipher suites up to
	// TLS 1.2, and the key exchanges in order of preference. What is empty is that of the profile intermediate.
	Version         string
	Ciphers, Curves []string
}

// Profile is how TLS is spoken. The zero value changes nothing.
type Profile struct {
	version uint16
	ciphers []uint16 // those of TLS 1.3 cannot be chosen
	curves  []tls.CurveID
}

// Apply makes servers speak TLS as the profile says.
func (p Profile) Apply(c *tls.Config) {
	if p.version != 0 {
		c.MinVersion, c.CipherSuites, c.CurvePreferences = p.version, p.ciphers, p.curves
	}
}

// HTTP2 reports whether HTTP/2 may be served: it requires one of two cipher suites where TLS 1.2 is spoken.
func (p Profile) HTTP2() bool {
	return len(p.ciphers) == 0 || p.version >= tls.VersionTLS13 || slices.Contains(p.ciphers, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256) ||
		slices.Contains(p.ciphers, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)
}

// Equal reports whether two profiles are the same.
func (p Profile) Equal(other Profile) bool {
	return p.version == other.version && slices.Equal(p.ciphers, other.ciphers) && slices.Equal(p.curves, other.curves)
}

var versions = map[string]uint16{"TLSv1.0": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

// curves are the key exchanges, some of which have two names.
var curves = map[string]tls.CurveID{
	"X25519": tls.X25519, "prime256v1": tls.CurveP256, "secp256r1": tls.CurveP256, "secp384r1": tls.CurveP384, "secp521r1": tls.CurveP521,
	"X25519MLKEM768": tls.X25519MLKEM768, "SecP256r1MLKEM768": tls.SecP256r1MLKEM768, "SecP384r1MLKEM1024": tls.SecP384r1MLKEM1024,
}

// intermediate has forward secrecy and authenticated encryption, and the hybrid key exchange first, as Go has it.
var intermediate = Profile{version: tls.VersionTLS12,
	ciphers: []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	},
	curves: []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384},
}

// Source returns the chosen profile as one that never changes, and where nothing was chosen the profile intermediate as one that follows the
// cluster.
func (c Choice) Source() (*Source, error) {
	p, err := c.Profile()
	if err != nil {
		return nil, err
	}
	return NewSource(p, c.Name == ""), nil
}

// Profile is the chosen one. Its errors name the flag of what cannot be had.
func (c Choice) Profile() (Profile, error) {
	custom := c.Version != "" || len(c.Ciphers) > 0 || len(c.Curves) > 0
	name := cmp.Or(c.Name, Intermediate)
	if custom && name != Custom {
		return Profile{}, fmt.Errorf("--tls-profile=%s: --tls-custom-version, --tls-custom-ciphers and --tls-custom-curves are of the profile %s: name that, or leave them out", name, Custom)
	}
	p := Profile{version: intermediate.version, ciphers: slices.Clone(intermediate.ciphers), curves: slices.Clone(intermediate.curves)}
	switch name {
	case Intermediate:
		return p, nil
	case Modern:
		p.version, p.ciphers = tls.VersionTLS13, nil
		return p, nil
	case Old:
		p.version = tls.VersionTLS10
		p.ciphers = append(p.ciphers, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA)
		return p, nil
	case Custom:
	default:
		return Profile{}, fmt.Errorf("--tls-profile=%s: there is no such profile; give %s, %s, %s or %s", name, Modern, Intermediate, Old, Custom)
	}
	if c.Version != "" {
		v, ok := versions[c.Version]
		if !ok {
			return p, fmt.Errorf("--tls-custom-version=%s: there is no such version; give %s", c.Version, strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
		}
		p.version = v
	}
	var err error
	if len(c.Ciphers) > 0 {
		suites := map[string]uint16{}
		for _, s := range tls.CipherSuites() {
			suites[s.Name] = s.ID
		}
		if p.ciphers, err = each("--tls-custom-ciphers", "cipher suite that is secure", c.Ciphers, suites); err != nil {
			return p, err
		}
	}
	if len(c.Curves) > 0 {
		p.curves, err = each("--tls-custom-curves", "key exchange", c.Curves, curves)
	}
	return p, err
}

// each looks names up. Two names of the same are it once.
func each[T comparable](flag, kind string, names []string, of map[string]T) ([]T, error) {
	var all []T
	for _, name := range names {
		v, ok := of[name]
		if !ok {
			return nil, fmt.Errorf("%s: %q is no %s; give some of %s", flag, name, kind, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
		}
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all, nil
}
