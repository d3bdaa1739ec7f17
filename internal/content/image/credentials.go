package image

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/types"
)

// credential is one entry of a docker config document.
type credential struct {
	Auth          string `json:"auth"`
	Username      string `json:"username"`
	Password      string `json:"password"`
	IdentityToken string `json:"identitytoken"`
}

// credentials are the entries of all documents of an Auth by normalised key:
// host[:port], optionally followed by leading parts of the repository.
type credentials map[string]types.DockerAuthConfig

// parseAuth reads the documents of an Auth. What is wrong with one never
// repeats its content, which is secret.
func parseAuth(auth Auth) (credentials, error) {
	all := credentials{}
	for i, document := range auth.DockerConfig {
		entries, err := parseDockerConfig(document)
		if err != nil {
			e := problem(Unauthorized, "pull secret %d is not a docker config document in JSON", i+1)
			e.Advice = "create it with `kubectl create secret docker-registry`"
			return nil, e
		}
		for key, entry := range entries {
			config, err := entry.decode()
			if err != nil {
				return nil, problem(Unauthorized, "pull secret %d: the entry for %q is not base64 of user:password", i+1, steady(key))
			}
			all[normaliseKey(key)] = config
		}
	}
	return all, nil
}

// parseDockerConfig accepts {"auths": {...}} and the older form without it.
func parseDockerConfig(document []byte) (map[string]credential, error) {
	var current struct {
		Auths map[string]credential `json:"auths"`
	}
	if err := json.Unmarshal(document, &current); err != nil {
		return nil, err
	}
	if current.Auths != nil {
		return current.Auths, nil
	}
	var older map[string]json.RawMessage
	if err := json.Unmarshal(document, &older); err != nil {
		return nil, err
	}
	entries := map[string]credential{}
	for key, raw := range older {
		var entry credential
		if json.Unmarshal(raw, &entry) == nil && entry != (credential{}) {
			entries[key] = entry // other top-level keys are settings, not registries
		}
	}
	return entries, nil
}

func (c credential) decode() (types.DockerAuthConfig, error) {
	config := types.DockerAuthConfig{Username: c.Username, Password: c.Password, IdentityToken: c.IdentityToken}
	if c.Auth == "" {
		return config, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.Auth))
	if err != nil {
		return config, err
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if !ok {
		return config, base64.CorruptInputError(0)
	}
	config.Username, config.Password = user, strings.TrimRight(password, "\x00")
	return config, nil
}

// normaliseKey drops what docker config keys carry beside host and repository.
func normaliseKey(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	key = strings.TrimRight(key, "/")
	key = strings.TrimSuffix(strings.TrimSuffix(key, "/v1"), "/v2")
	host, rest, _ := strings.Cut(key, "/")
	switch host {
	case "index.docker.io", "registry-1.docker.io":
		host = "docker.io"
	}
	if rest == "" {
		return host
	}
	return host + "/" + rest
}

// lookup returns the entry with the longest key that covers the repository.
// The host of a key may hold * and ?, as in *.registry.example, which match
// within one label, as the kubelet does.
func (c credentials) lookup(named reference.Named) (types.DockerAuthConfig, bool) {
	best := ""
	for key := range c {
		if covers(key, named) && (best == "" || closer(key, best)) {
			best = key
		}
	}
	return c[best], best != ""
}

// closer orders keys that cover the same repository: the longer one first,
// then the one without a pattern, then any fixed order.
func closer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	if aGlob, bGlob := strings.ContainsAny(a, "*?["), strings.ContainsAny(b, "*?["); aGlob != bGlob {
		return bGlob
	}
	return a < b
}

// covers reports whether a key holds for a repository.
func covers(key string, named reference.Named) bool {
	keyHost, keyPath, _ := strings.Cut(key, "/")
	host, repository := reference.Domain(named), reference.Path(named)
	match := func(pattern, label string) bool { ok, err := path.Match(pattern, label); return ok && err == nil }
	if keyHost != host && !slices.EqualFunc(strings.Split(keyHost, "."), strings.Split(host, "."), match) {
		return false
	}
	return keyPath == "" || repository == keyPath || strings.HasPrefix(repository, keyPath+"/")
}
