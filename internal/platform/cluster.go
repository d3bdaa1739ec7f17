package platform

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Security is spec.tlsSecurityProfile of the APIServer cluster of config.openshift.io. The zero value is the profile Intermediate.
type Security struct {
	// Type is Old, Intermediate, Modern or Custom.
	Type string `json:"type"`
	// Custom holds what the profile Custom is made of.
	Custom struct {
		// Ciphers are names of OpenSSL, or for TLS 1.3 those of the standard.
		Ciphers []string `json:"ciphers"`
		// MinTLSVersion is VersionTLS10 to VersionTLS13.
		MinTLSVersion string `json:"minTLSVersion"`
	} `json:"custom"`
}

// The versions by the names that the API uses.
var apiVersions = map[string]uint16{"VersionTLS10": tls.VersionTLS10, "VersionTLS11": tls.VersionTLS11, "VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13}

// openSSL maps the names of OpenSSL to the cipher suites that this program has. The three of TLS 1.3 cannot be chosen and map to 0.
var openSSL = map[string]uint16{
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-RSA-AES128-GCM-SHA256":   tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-AES256-GCM-SHA384":   tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-RSA-CHACHA20-POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-RSA-AES128-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
	"ECDHE-RSA-AES256-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	"TLS_AES_128_GCM_SHA256":        0, "TLS_AES_256_GCM_SHA384": 0, "TLS_CHACHA20_POLY1305_SHA256": 0,
}

// Profile returns the profile, and the cipher suites that it names and this program lacks or regards as weak, which are left out. When
// none is left for TLS 1.2, only TLS 1.3 is spoken: weaker than the profile asks for is never an answer.
func (s Security) Profile() (p Profile, without []string, err error) {
	switch cmp.Or(s.Type, "Intermediate") {
	case "Old", "Intermediate", "Modern":
		p, err = Choice{Name: strings.ToLower(s.Type)}.Profile()
		return p, nil, err
	case "Custom":
	default:
		return p, nil, fmt.Errorf("spec.tlsSecurityProfile.type: there is no profile %q; set Old, Intermediate, Modern or Custom", s.Type)
	}
	p, err = Choice{}.Profile()
	if err != nil {
		return p, nil, err
	}
	if v := s.Custom.MinTLSVersion; v != "" {
		var ok bool
		if p.version, ok = apiVersions[v]; !ok {
			return p, nil, fmt.Errorf("spec.tlsSecurityProfile.custom.minTLSVersion: there is no version %q; set one of %s", v, strings.Join(slices.Sorted(maps.Keys(apiVersions)), ", "))
		}
	}
	if len(s.Custom.Ciphers) == 0 {
		return p, nil, nil
	}
	p.ciphers = nil
	for _, name := range s.Custom.Ciphers {
		switch id, ok := openSSL[name]; {
		case !ok:
			without = append(without, name)
		case id != 0 && !slices.Contains(p.ciphers, id):
			p.ciphers = append(p.ciphers, id)
		}
	}
	if len(p.ciphers) == 0 {
		p.version = tls.VersionTLS13 // an empty list would be all that Go has
	}
	return p, without, nil
}
