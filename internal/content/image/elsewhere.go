package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/types"
)

// elsewhere says that pull secrets name a program that has the credentials for
// a repository, instead of the credentials; empty when they have some, or do
// not speak of the repository. Such programs belong to somebody's workstation,
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
